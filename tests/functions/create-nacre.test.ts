import { existsSync, mkdirSync, realpathSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import {
  createNacre,
  type ExecutionContext,
  NacreError,
  type NacreSettings,
  type OutputPiece,
  registerExecutionTools,
  ToolRegistry,
} from '../../src/index.ts';
import { createDeferred } from '../../src/support/timing.ts';
import { runChild } from '../support/child.ts';
import { createPlace, surroundingsOf, survivors } from '../support/nacre.ts';

const place = createPlace({ ALLOWED_COMMANDS: 'nothing', NACRE_DANGER: 'off' });
const open: { close(): Promise<void> }[] = [];
afterAll(async () => {
  await Promise.all(open.map((nacre) => nacre.close()));
  expect(await survivors(place.mark)).toEqual([]);
});

async function create(settings: NacreSettings<'terminal'> = {}) {
  const nacre = await createNacre<'terminal'>(
    { tools: ['terminal'], allowedCommands: ['*'], ...settings },
    surroundingsOf(place),
  );
  open.push(nacre);
  return nacre;
}

/** The instance with default settings that most tests share. */
let shared: ReturnType<typeof create> | undefined;
function share() {
  shared ??= create();
  return shared;
}

// First in this file, because it needs to know which instances are open.
it('B15: module-level helpers use the first open instance', async () => {
  const [one, two] = [await create(), await create()];
  expect(registerExecutionTools(new ToolRegistry()).list()).toEqual(one.registry.list());
  await one.close();
  expect(registerExecutionTools(new ToolRegistry()).list()).toEqual(two.registry.list());
  await two.close();
  expect(() => registerExecutionTools(new ToolRegistry())).toThrow('has been closed');
});

describe('createNacre', () => {
  it('E8: accepts settings by name, and reports all invalid ones in one error', async () => {
    const wrong: object = { maxRunning: 0, allowed_commands: ['ls'], sandbox: 'none' };
    const failure = await createNacre(wrong).catch((error: unknown) => error);
    expect(failure).toBeInstanceOf(NacreError);
    const { code, message } = failure as NacreError;
    expect(code).toBe('settings_invalid');
    expect(message).toMatch(/^3 settings are invalid/);
    expect(message).toContain('allowed_commands. Did you mean allowedCommands?');
    expect(message).toContain(
      'maxRunning: max_running cannot be 0; expected a whole number from 1 to 10000.',
    );
    expect(message).toContain('one of off, workspace, strict');
  });

  it.each([
    [5, {}, 'The options of createNacre must be an object, not 5.'],
    [null, {}, 'The options of createNacre must be an object, not null.'],
    [{}, 5, 'Invalid input for createNacre: the input must be an object, not 5.'],
    [{}, { cwd: 5 }, 'Invalid input for createNacre: cwd must be a string, not 5.'],
    [{}, { env: 'A=1' }, 'Invalid input for createNacre: env must be an object of strings.'],
    [{}, { env: { A: 5 } }, 'Invalid input for createNacre: env must be an object of strings.'],
    [
      {},
      { workingDir: '/' },
      'Invalid input for createNacre: there is no field "workingDir" (Did you mean cwd?).',
    ],
  ])('E6: names what is wrong with its arguments %j and %j', async (settings, around, message) => {
    await expect(createNacre(settings as NacreSettings, around as object)).rejects.toMatchObject({
      code: 'invalid_request',
      message,
    });
  });

  it('refuses a umask under which it could not use its own files', async () => {
    expect(await runChild('program-under-umask')).toEqual({
      refused: 'Under the umask 777, nacre could not use the files that it creates.',
      next: 'works\n',
    });
  });

  it('reads no setting from the environment, which only commands get', async () => {
    const nacre = await share();
    const { stdout } = await nacre.run('echo "$PLACE $ALLOWED_COMMANDS"');
    expect(stdout).toBe(`${place.mark} nothing\n`);
  });

  it('uses the directory and the environment of the process by default', async () => {
    const settings = { stateDir: join(place.cwd, 'own-state'), loginEnv: 'never' } as const;
    const nacre = await createNacre(settings);
    open.push(nacre);
    const { stdout } = await nacre.run('pwd -P; echo "$HOME"');
    expect(stdout).toBe(`${realpathSync(process.cwd())}\n${process.env.HOME}\n`);
  });

  it('P12: a list applies to tools and to the program’s own commands; without one, only the latter run', async () => {
    const nacre = await create({ allowedCommands: undefined });
    expect((await nacre.run('echo own')).stdout).toBe('own\n');
    expect(await nacre.tools.executeCommand.run({ command: 'echo tool' })).toMatchObject({
      success: false,
      metadata: { code: 'policy_denied' },
    });
    const listed = await create({ allowedCommands: ['ls'] });
    await expect(listed.run('echo own')).rejects.toMatchObject({ code: 'policy_denied' });
  });

  it('applies policy rules, and checks their examples', async () => {
    const examples = { matches: ['echo a'] };
    const rule = { verdict: 'deny', program: 'echo', reason: 'No echo here.', examples } as const;
    const nacre = await create({ policy: [rule] });
    await expect(nacre.run('echo own')).rejects.toThrow('No echo here.');
    const wrong = { ...rule, examples: { matches: ['ls'] } };
    await expect(create({ policy: [wrong] })).rejects.toMatchObject({
      code: 'settings_invalid',
    });
  });

  it('kills every command when it is closed, and refuses new ones', async () => {
    const ownPlace = createPlace();
    const nacre = await createNacre(
      { tools: ['terminal'], allowedCommands: ['*'] },
      surroundingsOf(ownPlace),
    );
    const started = createDeferred<void>();
    const call = nacre.tools.executeCommand.run(
      { command: 'echo ready; sleep 1000' },
      { onOutput: () => started.resolve() },
    );
    await started.promise;
    await nacre.close();
    expect(await call).toMatchObject({ success: false });
    await expect(nacre.run('true')).rejects.toMatchObject({ code: 'closed' });
    expect(await survivors(ownPlace.mark)).toEqual([]);
  });

  it('reports what it found on the machine', async () => {
    expect(await (await share()).report()).toMatchObject({
      sandbox: 'off',
      bash: { path: expect.any(String) },
    });
  });
});

describe('the context of a call', () => {
  it('sets the directory and variables; those of the call take precedence', async () => {
    const nacre = await share();
    mkdirSync(join(place.cwd, 'sub', 'inner'), { recursive: true });
    const context = { workingDir: join(place.cwd, 'sub'), env: { A: 'context', B: 'context' } };
    const command = 'pwd; echo "$A $B"';
    const stdout = async (input: object) =>
      (await nacre.tools.executeCommand.run({ command, ...input }, context)).metadata.stdout;
    expect(await stdout({})).toBe(`${place.cwd}/sub\ncontext context\n`);
    expect(await stdout({ cwd: 'inner', env: { A: 'call' } })).toBe(`${place.cwd}/sub/inner\ncall context\n`);
    expect(await stdout({ cwd: place.cwd })).toBe(`${place.cwd}\ncontext context\n`);
  });

  it('B19: sets a directory that must be in the roots', async () => {
    const nacre = await create({ allowedCwdRoots: [join(place.cwd, 'sub')] });
    const call = (workingDir: string) => nacre.tools.checkCommand.run({ command: 'true' }, { workingDir });
    expect(await call(join(place.cwd, 'sub'))).toMatchObject({ metadata: { verdict: 'allow' } });
    expect(await call(place.cwd)).toMatchObject({ success: false, metadata: { code: 'cwd_not_allowed' } });
  });

  it('B9: requests a dry run', async () => {
    const nacre = await share();
    const context = { dryRun: true, workingDir: place.cwd };
    const result = await nacre.tools.executeCommand.run({ command: 'touch dry' }, context);
    expect(result).toMatchObject({
      success: true,
      metadata: { stdout: '[Dry Run] Would execute: touch dry\n' },
    });
    expect(existsSync(join(place.cwd, 'dry'))).toBe(false);
  });

  it('B17: receives output while the command runs, in whole characters', async () => {
    const nacre = await share();
    const pieces: OutputPiece[] = [];
    const seen = createDeferred<void>();
    const command = "printf 'a\\xc3'; echo e >&2; until [ -e seen ]; do sleep 0.02; done; printf '\\xa9b'";
    const call = nacre.tools.executeCommand.run(
      { command },
      {
        workingDir: place.cwd,
        onOutput(piece) {
          pieces.push(piece);
          if (pieces.length === 2) seen.resolve();
        },
      },
    );
    await seen.promise;
    await nacre.run('touch seen', { workingDir: place.cwd });
    await call;
    const text = (stream: string) =>
      pieces.filter((piece) => piece.stream === stream).map((piece) => piece.text);
    expect(text('stdout').join('')).toBe('aéb');
    expect(text('stderr')).toEqual(['e\n']);
  });

  it('B7: cancels the command with its signal', async () => {
    const nacre = await share();
    const cancel = new AbortController();
    const call = nacre.tools.executeCommand.run(
      { command: 'echo ready; sleep 1000' },
      { signal: cancel.signal, onOutput: () => cancel.abort() },
    );
    expect(await call).toMatchObject({ success: false, metadata: { stdout: 'ready\n' } });
  });

  it.each<[object, string]>([
    [{ workingdir: '/' }, 'there is no field "workingdir" (Did you mean workingDir?)'],
    [{ env: { A: 1 } }, 'env.A must be a string, not 1'],
    [{ signal: {} }, 'signal must be an AbortSignal'],
    [{ onOutput: 5 }, 'onOutput must be a function'],
    [{ session: '' }, 'session must not be empty'],
  ])('E6: is refused if it is invalid: %j', async (context, problem) => {
    const nacre = await share();
    const call = nacre.tools.executeCommand.run({ command: 'true' }, context as ExecutionContext);
    await expect(call).rejects.toMatchObject({ code: 'invalid_request' });
    await expect(call).rejects.toThrow(problem);
  });
});

describe('the program’s own commands', () => {
  it('run as a bash script or as a program with its arguments', async () => {
    const nacre = await share();
    expect(await nacre.run(['echo', '$HOME', 'a b'])).toMatchObject({ exitCode: 0, stdout: '$HOME a b\n' });
    const outcome = await nacre.run('cat; exit 3', { input: 'in', maxOutputChars: 100 });
    expect(outcome).toMatchObject({ exitCode: 3, stdout: 'in', status: 'failed' });
    expect(await nacre.run('sleep 100', { timeoutMs: 50 })).toMatchObject({ cause: 'timeout' });
  });

  it('E6: get errors that name the function and its option', async () => {
    const nacre = await share();
    const gone = join(place.cwd, 'gone');
    for (const call of [nacre.run, nacre.check]) {
      await expect(call('true', { workingDir: gone })).rejects.toThrow(`workingDir is "${gone}"`);
      await expect(call('true', { workingDir: '' })).rejects.toThrow('workingDir must not be empty');
      await expect(call('true', 5 as unknown as object)).rejects.toThrow('must be an object, not 5');
    }
    await expect(nacre.run('true', { cwd: '/' } as object)).rejects.toMatchObject({
      message: 'Invalid input for the options of run: there is no field "cwd" (Did you mean workingDir?).',
      hint: 'Correct these fields; nothing was run.',
    });
  });

  it('are checked without being run', async () => {
    const nacre = await create({ allowedCommands: ['ls'] });
    const { decision, cwd } = await nacre.check('rm x', { workingDir: place.cwd });
    expect([decision.verdict, cwd]).toEqual(['deny', place.cwd]);
    expect((await nacre.check(['ls', 'x'])).decision.verdict).toBe('allow');
  });

  it.each<[unknown, object, string]>([
    ['', {}, 'command must'],
    [[], {}, 'command must'],
    [5, {}, 'command must be bash text, or a program and its arguments'],
    ['true', { timeoutMs: 0 }, 'timeoutMs must be at least 1, not 0'],
    ['true', { cwd: '/' }, 'there is no field "cwd"'],
  ])('E6: are refused if they are invalid: %j %j', async (command, options, problem) => {
    const nacre = await share();
    await expect(nacre.run(command as string, options)).rejects.toThrow(problem);
  });
});
