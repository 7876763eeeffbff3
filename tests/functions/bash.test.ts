import { mkdirSync, realpathSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createNacre, type Nacre, type OutputPiece, ShellManager } from '../../src/index.ts';
import { createPlace, sleep, surroundingsOf, survivors } from '../support/nacre.ts';

const place = createPlace();
const inner = join(place.cwd, 'inner');
mkdirSync(inner);
let nacre: Nacre<'bash'>;
beforeAll(async () => {
  nacre = await createNacre({ loginEnv: 'never' }, surroundingsOf(place));
});
afterAll(async () => {
  await nacre.close();
  expect(await survivors(place.mark)).toEqual([]);
});

describe('Bash for a program', () => {
  it('is the default tool family, and runs everything if no list is set', async () => {
    expect(Object.keys(nacre.tools)).toEqual(['bash', 'bashOutput', 'killShell', 'listShells']);
    expect(await nacre.tools.bash.run({ command: 'echo hi' })).toMatchObject({
      success: true,
      output: 'hi\n',
    });
    const listed = await createNacre({ allowedCommands: ['ls'] }, surroundingsOf(place));
    expect(await listed.tools.bash.run({ command: 'echo hi' })).toMatchObject({ success: false });
    await listed.close();
  });

  it('B2: returns the output of a command that failed', async () => {
    const result = await nacre.tools.bash.run({ command: 'echo kept; echo why >&2; (exit 3)' });
    expect(result).toMatchObject({
      success: false,
      output: 'kept\n[stderr]\nwhy\n',
      error: expect.stringContaining('exit code 3'),
      metadata: { exit_code: 3, stdout: 'kept\n', stderr: 'why\n' },
    });
  });

  it('B3: starts in the directory of the context, and stays where a command changed to', async () => {
    const context = { workingDir: place.cwd, session: 'directories' };
    const cwd = async (command: string) =>
      (await nacre.tools.bash.run({ command: `${command}; pwd` }, context)).metadata.stdout;
    expect(await cwd('true')).toBe(`${realpathSync(place.cwd)}\n`);
    expect(await cwd('cd inner')).toBe(`${realpathSync(inner)}\n`);
    expect(await cwd('true')).toBe(`${realpathSync(inner)}\n`);
  });

  it('B3: has a shell for each session of the context, which no other instance shares', async () => {
    const other = await createNacre({}, surroundingsOf(place));
    const value = async (from: Nacre<'bash'>, command: string, session?: string) =>
      (await from.tools.bash.run({ command: `${command}; echo "<$X>"` }, { session })).metadata.stdout;
    expect(await value(nacre, 'X=main')).toBe('<main>\n');
    expect(await value(nacre, 'X=two', 'two')).toBe('<two>\n');
    expect(await value(nacre, 'true')).toBe('<main>\n');
    expect(await value(nacre, 'true', 'two')).toBe('<two>\n');
    expect(await value(other, 'true')).toBe('<>\n');
    await other.close();
  });

  it('B12: closing a session kills its command at any time after its start, and forgets the session', async () => {
    const session = 'closed';
    const context = { workingDir: inner, session };
    for (const delayMs of [0, 10, 40, 300]) {
      const call = nacre.tools.bash.run({ command: 'X=1; cd /; sleep 1003; echo never' }, context);
      const queued = nacre.tools.bash.run({ command: 'echo "<$X>"; pwd' }, context);
      await expect
        .poll(async () => {
          await sleep(delayMs);
          return (await nacre.tools.killShell.run({ shell_id: session })).success;
        })
        .toBe(true);
      expect(await call).toMatchObject({ success: false, error: expect.stringContaining('was stopped') });
      expect((await queued).metadata.stdout).toBe(`<>\n${realpathSync(inner)}\n`);
      const { sessions } = (await nacre.tools.listShells.run({})).metadata;
      expect(sessions).toContainEqual(expect.objectContaining({ session }));
      await nacre.tools.killShell.run({ shell_id: session });
      const { sessions: left } = (await nacre.tools.listShells.run({})).metadata;
      expect(left).not.toContainEqual(expect.objectContaining({ session }));
    }
  });

  it('B7: cancelling a command just after its end does not affect the next one', async () => {
    for (let round = 0; round < 36; round += 1) {
      const controller = new AbortController();
      const call = nacre.tools.bash.run({ command: 'true' }, { signal: controller.signal });
      setTimeout(() => controller.abort(), round % 6);
      await call;
      expect((await nacre.tools.bash.run({ command: 'echo next' })).metadata.stdout).toBe('next\n');
    }
  });

  it('B3: says how to read later output of processes left in the background', async () => {
    const { metadata } = await nacre.tools.bash.run({ command: '(sleep 0.5; echo late) & echo now' });
    const { bash_id, stdout, notes } = metadata;
    expect(stdout).toBe('now\n');
    expect(String(notes)).toMatch(
      /^Still running in this session: a subshell of the command \(pid \d+\), sleep 0\.5/,
    );
    expect(String(notes)).toContain(`BashOutput (bash_id ${bash_id})`);
    const pieces: unknown[] = [];
    await expect
      .poll(
        async () =>
          pieces.push((await nacre.tools.bashOutput.run({ bash_id: String(bash_id) })).metadata.stdout) &&
          pieces.join(''),
      )
      .toBe('now\nlate\n');
  });

  it('sets the variables of the context for its command', async () => {
    const run = (command: string, env?: Record<string, string>) => nacre.tools.bash.run({ command }, { env });
    expect((await run('echo "$A"', { A: 'one' })).metadata.stdout).toBe('one\n');
  });

  it('B17: calls onOutput while the command runs', async () => {
    const pieces: OutputPiece[] = [];
    let ended = false;
    let early = 0;
    const call = nacre.tools.bash.run(
      { command: 'echo one; until [ -e go ]; do sleep 0.02; done; echo two >&2' },
      {
        workingDir: place.cwd,
        onOutput: async (piece) => {
          pieces.push(piece);
          if (!ended) early += 1;
          if (pieces.length === 1) await nacre.run('touch go', { workingDir: place.cwd });
        },
      },
    );
    await call;
    ended = true;
    expect(pieces).toEqual([
      { stream: 'stdout', text: 'one\n' },
      { stream: 'stderr', text: 'two\n' },
    ]);
    expect(early).toBe(2);
  });

  it('B7: an abort runs the INT trap of the shell, which keeps its state, and ends the command with 128+N', async () => {
    const cancel = new AbortController();
    const context = { signal: cancel.signal, onOutput: () => cancel.abort() };
    await nacre.tools.bash.run({ command: 'X=kept; trap "echo trapped" INT; sleep 1000 & job=$!' });
    const command = 'Y=new; echo ready; sleep 1000; echo after';
    const result = await nacre.tools.bash.run({ command }, context);
    expect(result).toMatchObject({
      success: false,
      metadata: { stdout: 'ready\ntrapped\n', exit_code: 130, signal: 'SIGINT' },
    });
    const next = await nacre.tools.bash.run({ command: 'echo "$X $Y"; kill %1; trap -p INT; trap - INT' });
    expect(next.metadata.stdout).toBe("kept new\ntrap -- 'echo trapped' SIGINT\n");
  });

  it('B8: two calls of BashOutput at the same time return each part of the output once', async () => {
    const { metadata } = await nacre.tools.bash.run({ command: 'seq 2000', run_in_background: true });
    const bash_id = String(metadata.bash_id);
    let text = '';
    for (let isRunning = true; isRunning; ) {
      const found = await Promise.all([1, 2, 3].map(() => nacre.tools.bashOutput.run({ bash_id })));
      text += found.map(({ metadata: { stdout } }) => stdout).join('');
      isRunning = found.some(({ metadata: { status } }) => status === 'running');
    }
    expect(text.trim().split(/\s+/)).toHaveLength(2_000);
  });

  it('B7: an onOutput that never resolves does not keep its call from ending', {
    timeout: 60_000,
  }, async () => {
    const onOutput = () => new Promise<void>(() => {});
    const result = await nacre.tools.bash.run(
      { command: 'echo x; sleep 1000', timeout: 1_000 },
      { onOutput },
    );
    expect(result).toMatchObject({ success: false, metadata: { stdout: 'x\n' } });
  });

  it('B13: starts background shells that ShellManager lists', async () => {
    const { metadata } = await nacre.tools.bash.run({ command: 'sleep 1000', run_in_background: true });
    expect(await ShellManager.listRunning()).toMatchObject([{ id: metadata.bash_id, command: 'sleep 1000' }]);
    await ShellManager.createShell('sleep 2000');
    const { metadata: listed } = await nacre.tools.listShells.run({});
    const sleeping = (listed.shells as { command: string }[]).filter(({ command }) => /^sleep/.test(command));
    expect(sleeping).toMatchObject([{ command: 'sleep 1000' }, { command: 'sleep 2000' }]);
    await ShellManager.reset();
  });
});
