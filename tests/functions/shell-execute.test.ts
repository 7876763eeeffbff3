import { chmodSync, mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { createNacre, type NacreSettings } from '../../src/index.ts';
import { createPlace, surroundingsOf, survivors } from '../support/nacre.ts';
import { processesWith } from '../support/processes.ts';
import { exampleReplies, shapeOf } from '../support/replies.ts';

const place = createPlace({ MY_TOKEN: 'the-secret-value', PLAIN: 'shown', OTHER: 'too' });
const instances = new Map<string, ReturnType<typeof create>>();
afterAll(async () => {
  for (const nacre of await Promise.all(instances.values())) await nacre.close();
  expect(await survivors(place.mark)).toEqual([]);
  rmSync(place.cwd, { recursive: true });
});

type Settings = NacreSettings<'shell-execute'>;
const create = (settings: Settings) =>
  createNacre(
    { loginEnv: 'never', killGraceMs: 200, ...settings, tools: ['shell-execute'] },
    surroundingsOf(place),
  );

/** Returns an instance with these settings, which tests with the same settings share. */
function share(settings: Settings = {}) {
  const key = JSON.stringify(settings);
  const instance = instances.get(key) ?? create(settings);
  instances.set(key, instance);
  return instance;
}

const open = async (settings?: Settings) => (await share(settings)).tools.shellExecute.run;

describe('shell_execute in process', () => {
  it('S1, S2: replies to a success with the sentence and keys of the specification', async () => {
    const run = await open();
    const { content, is_error, metadata } = await run({
      command: 'echo "$WORD"; pwd; cat; echo problem >&2',
      environment: { WORD: 'from the environment' },
    });
    expect({ content, is_error }).toEqual({
      content: exampleReplies.success.content,
      is_error: exampleReplies.success.is_error,
    });
    expect(shapeOf(metadata)).toEqual(shapeOf(exampleReplies.success.metadata));
    expect(metadata).toMatchObject({
      exit_code: 0,
      stdout: `from the environment\n${place.cwd}\n`,
      stderr: 'problem\n',
      working_directory: place.cwd,
      id: expect.stringMatching(/^cmd_/),
      enforcement: { gaps: expect.any(Array) },
    });
  });

  it('S3: replies to a failure with the sentence and keys of the specification, and the output', async () => {
    const run = await open();
    const { metadata, ...reply } = await run({ command: 'echo out; ls ./nowhere; exit 1' });
    const { metadata: example, ...expected } = exampleReplies.failure;
    expect(reply.is_error).toBe(expected.is_error);
    expect(reply.content[0]).toEqual(expected.content[0]);
    expect(shapeOf(metadata)).toEqual(shapeOf(example));
    expect(metadata).toMatchObject({
      exit_code: 1,
      stdout: 'out\n',
      stderr: expect.stringContaining('nowhere'),
    });
    // The keys of `metadata` are fixed, so notes have a text block of their own.
    expect(reply.content[1]?.text).toBe('Withheld variables: MY_TOKEN.');
  });

  it('S4: a timeout returns the output so far, and kills the process tree', async () => {
    const run = await open();
    const { metadata, ...reply } = await run({
      command: `echo so far; echo bad >&2; (trap '' TERM; sleep 3071.${process.pid} & sleep 3071.${process.pid})`,
      timeout: 1,
    });
    expect(reply.is_error).toBe(true);
    expect(reply.content[0]?.text).toBe('Command timed out after 1 seconds');
    expect(shapeOf(metadata)).toEqual(shapeOf(exampleReplies.timeout.metadata));
    expect(metadata).toMatchObject({
      timeout_seconds: 1,
      partial_stdout: 'so far\n',
      partial_stderr: 'bad\n',
    });
    expect(processesWith(`sleep\u00003071.${process.pid}`)).toEqual([]);
  });

  it('S7: reports the resources used by the whole process tree', async () => {
    const run = await open();
    // Memory is sampled, so the command has to run for longer than the first sample takes, however fast the machine is.
    const { metadata } = await run({ command: '(SECONDS=0; while ((SECONDS < 3)); do :; done) & wait' });
    expect(metadata.resources?.cpuMs).toBeGreaterThan(50);
    expect(metadata.resources?.peakMemoryBytes).toBeGreaterThan(1_000_000);
  });

  it('S2: returns a ToolResult through the registry, like all tools', async () => {
    const nacre = await share();
    const result = await nacre.registry.execute('shell_execute', { command: 'echo a; echo b >&2; exit 2' });
    expect(result).toMatchObject({ success: false, output: 'a\n[stderr]\nb\n', metadata: { exit_code: 2 } });
    expect(result.error).toMatch(/^Command failed with exit code 2/);
  });

  it('B9: a dry run reports what it would execute', async () => {
    const run = await open();
    const { content, is_error } = await run({ command: 'touch ran' }, { dryRun: true });
    expect({ content, is_error }).toEqual({
      content: [{ type: 'text', text: '[Dry Run] Would execute: touch ran' }],
      is_error: false,
    });
  });
});

describe('S5: each kind of error has its own message', () => {
  const textOf = async (
    command: string,
    settings: NacreSettings<'shell-execute'> = {},
    more: object = {},
  ): Promise<string> => {
    const run = await open(settings);
    const { content, is_error } = await run({ command, ...more });
    expect(is_error).toBe(true);
    return content[0]?.text ?? '';
  };

  it('a command that does not exist is named', async () => {
    expect(await textOf('nosuch-program --flag')).toMatch(
      /^Command failed with exit code 127: command not found: nosuch-program\. /,
    );
    expect(await textOf('./nosuch')).toContain('command not found: ./nosuch.');
    expect(await textOf('exit 127')).toBe('Command failed with exit code 127');
  });

  it('a file that is not executable is named, and so is an operation that was not permitted', async () => {
    writeFileSync(join(place.cwd, 'plain.sh'), 'echo hi\n');
    chmodSync(join(place.cwd, 'plain.sh'), 0o600);
    expect(await textOf('./plain.sh')).toMatch(
      /^Command failed with exit code 126: permission denied: \.\/plain\.sh is not executable\. .*chmod \+x/,
    );
    mkdirSync(join(place.cwd, 'folder'));
    expect(await textOf('./folder')).toContain('./folder cannot be executed: Is a directory.');
    expect(await textOf('echo x > /proc/sys/kernel/random/uuid')).toMatch(
      /: permission denied: .*random\/uuid/,
    );
  });

  it('exhausted memory is reported with the limit', async () => {
    const command = 'x=$(head -c 400000000 /dev/zero | tr "\\\\0" x); echo $x';
    const text = await textOf(command, { memoryBytes: 67_108_864 });
    expect(text).toMatch(/^Command failed with exit code \d+: memory exhausted\. .*(memory_bytes|64 MiB)/);
  });

  it('exhausted processes are reported with the limit', async () => {
    // perl, because bash would retry a failed fork(2) for 15 s.
    const fork = 'my $p = fork; die "fork: $!" unless defined $p; if (!$p) { sleep 20; exit }';
    const command = `perl -e 'for (1..40) { ${fork} }'`;
    expect(await textOf(command, { maxProcesses: 12 })).toMatch(
      /^Command failed with exit code \d+: processes exhausted\. .*12/,
    );
  });

  it('an exhausted disk is reported: a file over the limit, and a full device', async () => {
    expect(await textOf('head -c 300000 /dev/zero > big', { fileBytes: 65_536 })).toMatch(
      /^Command failed with exit code \d+: disk exhausted\. .*65\.5 kB/,
    );
    expect(await textOf('echo x > /dev/full')).toMatch(
      /^Command failed with exit code 1: disk exhausted: .*No space left on device\. Free some space/,
    );
  });

  it('exhausted output is reported with the quota', async () => {
    expect(await textOf('yes', { ringBytes: 4_096, spoolBytes: 65_536 })).toMatch(
      /^Command failed with exit code \d+: output exhausted\. .*head, tail or grep/,
    );
  });

  it('exhausted CPU time and a cancelled call are reported', async () => {
    expect(await textOf('while :; do :; done', { cpuSeconds: 1 })).toContain(': CPU time exhausted.');
    const run = await open();
    const controller = new AbortController();
    const cancelled = await run(
      { command: 'echo begun; sleep 30' },
      { signal: controller.signal, onOutput: () => controller.abort() },
    );
    expect(cancelled.content[0]?.text).toMatch(/: it was stopped before it finished\.$/);
  });

  it('all invalid parameters are listed in one error, and nothing runs', async () => {
    const run = await open();
    const wrong: object = {
      command: '',
      timeout: 0,
      working_directory: 5,
      environment: { '1X': 'a', OK: 7 },
      cwd: '/',
    };
    const { content, is_error, metadata } = await run(wrong as { command: string });
    expect({ is_error, metadata }).toEqual({ is_error: true, metadata: {} });
    const text = content[0]?.text ?? '';
    for (const problem of [
      'command must not be empty',
      'timeout must be at least 1',
      'working_directory must be a string',
      '1X',
      'environment.OK must be a string',
      'there is no field "cwd"',
    ])
      expect(text).toContain(problem);
    expect((await run({ command: 'true', timeout: 1_801 })).content[0]?.text).toContain('at most 1800');
    const long = { X: '€'.repeat(43_667) };
    expect((await run({ command: 'true', environment: long })).content[0]?.text).toContain(
      'at most 131000 bytes',
    );
    const longest = { X: `${'€'.repeat(43_666)}xx` };
    const accepted = await run({ command: 'printenv X | wc -c', environment: longest });
    expect(accepted.metadata).toMatchObject({ stdout: '131001\n' });
  });

  it('a directory that does not exist is an error whose metadata has the request', async () => {
    const run = await open();
    const { content, metadata } = await run({ command: 'true', working_directory: '/no/such' });
    expect(content[0]?.text).toMatch(
      /^Working directory does not exist: working_directory is "\/no\/such"\./,
    );
    expect(metadata).toEqual({ command: 'true', working_directory: '/no/such' });
  });
});

describe('S8: shell_execute can be restricted by itself', () => {
  it('to a list within ALLOWED_COMMANDS', async () => {
    const run = await open({
      allowedCommands: ['echo', 'ls'],
      shellExecuteAllowedCommands: ['echo', 'id'],
    });
    expect((await run({ command: 'echo fine' })).is_error).toBe(false);
    for (const command of ['ls', 'id']) {
      const { content, is_error } = await run({ command });
      expect(is_error).toBe(true);
      expect(content[0]?.text).toMatch(/not allowed.*NACRE_SHELL_EXECUTE_ALLOWED_COMMANDS/s);
    }
  });

  it('to directories', async () => {
    const root = join(place.cwd, 'root');
    mkdirSync(join(root, 'in'), { recursive: true });
    const run = await open({ shellExecuteCwdRoots: [root] });
    expect((await run({ command: 'pwd', working_directory: join(root, 'in') })).is_error).toBe(false);
    const { content, is_error } = await run({ command: 'pwd', working_directory: '/' });
    expect(is_error).toBe(true);
    expect(content[0]?.text).toBe(
      `working_directory "/" is not allowed: it is not within ${root}. Choose a directory within one of them, or change NACRE_SHELL_EXECUTE_CWD_ROOTS.`,
    );
    const broken = await open({ allowedCwdRoots: [root], shellExecuteCwdRoots: ['/no/such'] });
    expect((await broken({ command: 'pwd', working_directory: root })).content[0]?.text).toBe(
      'Configuration problem: ALLOWED_CWD_ROOTS or NACRE_SHELL_EXECUTE_CWD_ROOTS names /no/such (does not exist). Correct ALLOWED_CWD_ROOTS or NACRE_SHELL_EXECUTE_CWD_ROOTS and restart the server; until then, omit working_directory to use the server’s own directory.',
    );
  });

  it('to variables, without affecting other commands', async () => {
    const settings = { shellExecuteEnvPass: ['MY_*'], shellExecuteEnvWithhold: ['PLAIN'] };
    const nacre = await share(settings);
    const command =
      'echo "[$MY_TOKEN] [$PLAIN] [$OTHER]"; tr "\\\\0" "\\n" < /proc/self/environ | grep -c shown';
    const { metadata } = await nacre.tools.shellExecute.run({ command });
    expect(metadata.stdout).toBe('[the-secret-value] [] [too]\n0\n');
    expect((await nacre.run('echo "[$MY_TOKEN] [$PLAIN] [$OTHER]"')).stdout).toBe('[] [shown] [too]\n');
  });
});
