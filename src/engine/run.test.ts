import { createHash } from 'node:crypto';
import {
  existsSync,
  mkdirSync,
  readdirSync,
  realpathSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { runChild } from '../../tests/support/child.ts';
import { createTestEngine, type TestEngine, type TestEngineOptions } from '../../tests/support/engine.ts';
import { processesWith, zombieChildren } from '../../tests/support/processes.ts';
import { chosenRoad } from '../../tests/support/roads.ts';
import { sleep } from '../support/timing.ts';

let here: TestEngine;
let mark = '';
beforeEach(() => {
  here = createTestEngine();
  mark = `mark${Math.random()}`;
});
afterEach(async () => {
  await here.close();
  await expect.poll(() => processesWith(mark)).toEqual([]);
  await expect.poll(() => zombieChildren()).toEqual([]);
});
const fresh = async (options: TestEngineOptions) => {
  await here.close();
  here = createTestEngine(options);
};
const kinds = () => here.records().map(({ kind }) => kind);
const only = (...names: string[]) => ({
  rules: { allow: { kind: 'names', names }, allowSetting: 'ALLOWED_COMMANDS', danger: 'block' } as const,
});
const marked = () => ({ env: { TEST_MARK: mark } });

describe('S6: the journey of a command is recorded', () => {
  test('as asked, decided, started and finished, under the id of the outcome', async () => {
    const outcome = await here.run('echo out; echo err >&2; exit 3');
    expect(outcome).toMatchObject({
      status: 'failed',
      exitCode: 3,
      stdout: 'out\n',
      stderr: 'err\n',
      cwd: here.folder,
      truncated: false,
      warnings: [],
    });
    const [asked, decided, started, finished] = here.records();
    expect(here.records()).toHaveLength(4);
    expect(started).toMatchObject({ kind: 'started', cwd: here.folder });
    for (const record of here.records())
      expect(record).toMatchObject({ id: outcome.id, door: 'cli', client: 'test' });
    expect(asked).toMatchObject({ kind: 'asked', command: 'echo out; echo err >&2; exit 3' });
    expect(decided).toMatchObject({
      kind: 'decided',
      verdict: 'allow',
      rule: 'all_allowed',
      cwd: here.folder,
    });
    expect(finished).toMatchObject({ kind: 'finished', exit_code: 3, stdout_bytes: 4, stderr_bytes: 4 });
    expect(finished?.stdout_sha256).toBe(createHash('sha256').update('out\n').digest('hex'));
    expect(finished).toMatchObject({ resources: expect.any(Object), enforcement: { level: 'group' } });
  });

  test('as asked, decided and refused if the policy denies it, and nothing runs', async () => {
    await expect(here.run('touch made', {}, only('ls'))).rejects.toMatchObject({
      code: 'policy_denied',
      message: expect.stringContaining('touch'),
    });
    expect(existsSync(join(here.folder, 'made'))).toBe(false);
    expect(kinds()).toEqual(['asked', 'decided', 'refused']);
    expect(here.records()[2]).toMatchObject({ code: 'policy_denied' });
  });

  test('as asked and failed if its directory is invalid', async () => {
    await expect(here.run('touch made', { cwd: 'none' })).rejects.toMatchObject({ code: 'cwd_invalid' });
    expect(kinds()).toEqual(['asked', 'failed']);
  });

  test('as failed if its program does not exist', async () => {
    const command = { kind: 'argv', argv: ['no-such-program'] } as const;
    await expect(here.run('', { command })).rejects.toMatchObject({ code: 'program_not_found' });
    expect(kinds()).toEqual(['asked', 'decided', 'started', 'failed']);
  });

  test('before it runs: a command that cannot be recorded does not run', async () => {
    writeFileSync(here.auditDir, 'in the way');
    await expect(here.run('touch made')).rejects.toMatchObject({ code: 'audit_unavailable' });
    await expect(here.run('touch made', {}, only('ls'))).rejects.toMatchObject({ code: 'audit_unavailable' });
    expect(existsSync(join(here.folder, 'made'))).toBe(false);
  });

  test('after it ran: if its outcome cannot be recorded, nothing runs until the log is writable', async () => {
    const script = `rm -r ${here.auditDir} && touch ${here.auditDir} && echo done`;
    const outcome = await here.run(script);
    expect(outcome).toMatchObject({ status: 'completed', stdout: 'done\n' });
    await expect(here.run('touch made')).rejects.toMatchObject({ code: 'audit_unavailable' });
    expect(existsSync(join(here.folder, 'made'))).toBe(false);
    rmSync(here.auditDir);
    expect(await here.run('echo again')).toMatchObject({ stdout: 'again\n' });
  });
});

describe('T7: the working directory', () => {
  beforeEach(() => {
    mkdirSync(join(here.folder, 'sub'));
    writeFileSync(join(here.folder, 'file'), '');
  });
  const cwdOf = async (cwd: string | undefined, roots: readonly (readonly string[])[] = []) =>
    (await here.run('pwd', { cwd }, { cwdRoots: roots })).stdout.trim();

  test('is the server’s own, relative to it, or absolute', async () => {
    expect(await cwdOf(undefined)).toBe(here.folder);
    expect(await cwdOf('sub')).toBe(join(here.folder, 'sub'));
    expect(await cwdOf('sub/../sub')).toBe(join(here.folder, 'sub'));
    expect(await cwdOf('/')).toBe('/');
  });

  test.each([
    ['none', 'does not exist'],
    ['file', 'is not a directory'],
    ['file/deeper', 'is not a directory'],
  ])('%s is an error that names the problem, and nothing runs', async (cwd, problem) => {
    await expect(here.run(`touch ${here.folder}/made`, { cwd })).rejects.toMatchObject({
      code: 'cwd_invalid',
      message: expect.stringContaining(problem),
    });
    expect(existsSync(join(here.folder, 'made'))).toBe(false);
  });

  test('that the user may not enter is an error', async () => {
    expect(await runChild('closed-cwd')).toMatchObject({
      code: 'cwd_invalid',
      message: expect.stringContaining('cannot be entered'),
      ran: false,
    });
  });

  test('T8: must lie within a root, by canonical paths', async () => {
    symlinkSync(join(here.folder, 'sub'), join(here.folder, 'alias'));
    symlinkSync('/usr', join(here.folder, 'sub', 'escape'));
    mkdirSync(join(here.folder, 'subway'));
    expect(await cwdOf('sub', [['sub']])).toBe(join(here.folder, 'sub'));
    expect(await cwdOf('sub', [[join(here.folder, 'alias')]])).toBe(join(here.folder, 'sub'));
    expect(await cwdOf('alias', [['sub', '/usr']])).toBe(join(here.folder, 'sub'));
    expect(await cwdOf('sub/escape', [['sub', '/usr']])).toBe(realpathSync('/usr'));
    for (const cwd of ['sub/escape', 'sub/..', '.', 'subway', '/']) {
      await expect(here.run('pwd', { cwd }, { cwdRoots: [['sub']] })).rejects.toMatchObject({
        code: 'cwd_not_allowed',
      });
    }
  });

  test('T8: may be any directory if there are no roots, and the server’s own needs no root', async () => {
    expect(await cwdOf('/usr', [])).toBe(realpathSync('/usr'));
    expect(await cwdOf('/usr', [[]])).toBe(realpathSync('/usr'));
    expect(await cwdOf(undefined, [['sub']])).toBe(here.folder);
  });

  test('T8: is a configuration error if a root cannot be resolved, but only if the caller requests a directory', async () => {
    const roots = [['sub', join(here.folder, 'none')]];
    await expect(here.run('pwd', { cwd: 'sub' }, { cwdRoots: roots })).rejects.toMatchObject({
      code: 'cwd_roots_invalid',
      message: expect.stringContaining('none'),
    });
    expect(await cwdOf(undefined, roots)).toBe(here.folder);
  });

  test('T8: must lie within the project’s roots and the user’s', async () => {
    mkdirSync(join(here.folder, 'sub', 'deep'));
    const roots = [['sub'], [join('sub', 'deep'), '/usr']];
    expect(await cwdOf('sub/deep', roots)).toBe(join(here.folder, 'sub', 'deep'));
    for (const cwd of ['sub', '/usr']) {
      await expect(here.run('pwd', { cwd }, { cwdRoots: roots })).rejects.toMatchObject({
        code: 'cwd_not_allowed',
      });
    }
  });
});

describe('E2: cancelling', () => {
  test('before the start starts nothing', async () => {
    const signal = AbortSignal.abort();
    await expect(here.run('touch made', {}, { signal })).rejects.toMatchObject({ code: 'cancelled' });
    expect(existsSync(join(here.folder, 'made'))).toBe(false);
    expect(kinds()).toEqual(['asked', 'decided', 'failed']);
  });

  test('while it runs kills the process tree and returns the output so far', async () => {
    const cancel = new AbortController();
    const running = here.run('echo begun; sleep 60 & sleep 61', marked(), { signal: cancel.signal });
    await expect.poll(() => processesWith(mark).length, { timeout: 10_000 }).toBe(3);
    cancel.abort();
    expect(await running).toMatchObject({
      status: 'killed',
      cause: 'stopped',
      stdout: 'begun\n',
      survivors: [],
      deniedHosts: [],
    });
    expect(processesWith(mark)).toEqual([]);
    expect(kinds()).toEqual(['asked', 'decided', 'started', 'finished']);
  });

  test('during the start also kills the command', async () => {
    const cancel = new AbortController();
    const running = here
      .run('sleep 62', marked(), { signal: cancel.signal })
      .catch((error: unknown) => error);
    await sleep(0);
    cancel.abort();
    const found = await running;
    expect([found]).toEqual([
      expect.toSatisfy(
        (one) => one.code === 'cancelled' || (one.status === 'killed' && one.cause === 'stopped'),
      ),
    ]);
    expect(processesWith(mark)).toEqual([]);
  });

  test('after the reply changes nothing', async () => {
    const cancel = new AbortController();
    const outcome = await here.run('echo done', {}, { signal: cancel.signal });
    cancel.abort();
    await sleep(20);
    expect(outcome.status).toBe('completed');
    expect(kinds()).toEqual(['asked', 'decided', 'started', 'finished']);
  });
});

describe('streamed output', () => {
  test('B17: reaches a slow listener completely and in order', async () => {
    const seen: Buffer[] = [];
    const onOutput = async (chunks: readonly { data: Uint8Array }[]) => {
      await sleep(1);
      seen.push(...chunks.map(({ data }) => Buffer.from(data)));
    };
    const outcome = await here.run('seq 1 200000', {}, { onOutput });
    const whole = Buffer.concat(seen);
    expect(whole.length).toBe(outcome.stdoutBytes);
    expect(
      whole
        .toString()
        .split('\n')
        .slice(0, -1)
        .map(Number)
        .every((line, index) => line === index + 1),
    ).toBe(true);
  });

  test('E2: with a failing listener stops the command', async () => {
    const onOutput = () => Promise.reject(new Error('EPIPE'));
    await expect(here.run('echo x; sleep 63', marked(), { onOutput })).rejects.toThrow('EPIPE');
    expect(processesWith(mark)).toEqual([]);
    expect(kinds()).toEqual(['asked', 'decided', 'started', 'failed']);
  });
});

describe('input', () => {
  test('T1: is written to stdin, followed by EOF', async () => {
    expect(await here.run('wc -c', { input: 'ü'.repeat(100_000) })).toMatchObject({ stdout: '200000\n' });
    expect(await here.run('wc -c', { input: '' })).toMatchObject({ stdout: '0\n' });
  });

  test('that the command never reads does not delay the outcome', async () => {
    const input = 'x'.repeat(2_000_000);
    const outcome = await here.run('exec 0<&-; echo done', { input, timeoutMs: 20_000 });
    expect(outcome).toMatchObject({ stdout: 'done\n', status: 'completed' });
  });
});

describe('closing', () => {
  test('E2: stops running commands, and their outcomes are still returned and recorded', async () => {
    const running = here.run('echo begun; touch said; sleep 64', marked());
    await expect.poll(() => existsSync(join(here.folder, 'said'))).toBe(true);
    await here.engine.close();
    expect(await running).toMatchObject({
      status: 'killed',
      cause: 'stopped',
      stdout: 'begun\n',
      warnings: [],
    });
    expect(processesWith(mark)).toEqual([]);
    expect(kinds()).toEqual(['asked', 'decided', 'started', 'finished']);
    await expect(here.run('touch made')).rejects.toMatchObject({ code: 'shutting_down' });
    expect(existsSync(join(here.folder, 'made'))).toBe(false);
    expect(kinds()).toHaveLength(4);
  });

  test('twice has no further effect', async () => {
    await expect(Promise.all([here.engine.close(), here.engine.close()])).resolves.toHaveLength(2);
    await expect(here.engine.close()).resolves.toBeUndefined();
  });
});

describe('the machine', () => {
  test('is reported after a warm-up, whose failure shows at the first command', async () => {
    await here.engine.warmUp();
    expect(await here.engine.report()).toMatchObject({
      processTable: '/proc',
      path: '/usr/local/bin:/usr/bin:/bin',
    });
    await fresh({ worker: { bash: '/nowhere/bash' } });
    await here.engine.warmUp();
    await expect(here.run('true')).rejects.toMatchObject({ code: 'resources_unavailable' });
  });

  // The near side's copy of the output makes this impossible on other roads.
  test.runIf(chosenRoad === 'process')(
    'returns how a command ended although its output cannot be read back',
    async () => {
      await fresh({ worker: { ringBytes: 4_096 } });
      const running = here.run(`seq 1 50000; until test -e ${here.folder}/go; do sleep 0.02; done`);
      // Most of its 288,894 bytes; what a slow machine spools after the folder is gone would be readable.
      await expect.poll(() => spooledBytes(here.folder)).toBeGreaterThan(200_000);
      rmSync(join(here.folder, 'state'), { recursive: true, force: true });
      writeFileSync(join(here.folder, 'go'), '');
      const outcome = await running;
      expect(outcome).toMatchObject({ status: 'completed', exitCode: 0 });
      expect(outcome.warnings).toEqual([expect.stringContaining('could not be read')]);
    },
  );
});

function spooledBytes(folder: string): number {
  const run = join(folder, 'state/run');
  const names = readdirSync(run, { recursive: true, encoding: 'utf8' });
  const spools = names.filter((name) => /\/spool\/[^/]+$/.test(name));
  return spools.reduce((sum, name) => sum + statSync(join(run, name)).size, 0);
}
