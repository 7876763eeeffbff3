import { chmodSync, mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, afterEach, describe, expect, it } from 'vitest';
import { createNacre, type NacreSettings } from '../../src/index.ts';
import { createPlace, survivors } from '../support/nacre.ts';
import { processesWith } from '../support/processes.ts';
import { exampleReplies, shapeOf } from '../support/replies.ts';

const place = createPlace({ MY_TOKEN: 'the-secret-value', PLAIN: 'shown', OTHER: 'too' });
const open: { close(): Promise<void> }[] = [];
afterEach(async () => {
  await Promise.all(open.splice(0).map((nacre) => nacre.close()));
});
afterAll(async () => {
  expect(await survivors(place.mark)).toEqual([]);
  rmSync(place.cwd, { recursive: true });
});

async function create(settings: NacreSettings<'shell-execute'> = {}) {
  const nacre = await createNacre({ loginEnv: 'never', ...settings, tools: ['shell-execute'] }, place);
  open.push(nacre);
  return nacre.tools.shellExecute.run;
}

describe('shell_execute in process', () => {
  it('S1, S2: succeeds in the words and keys of the specification', async () => {
    const run = await create();
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

  it('S3: fails in the words and keys of the specification, with its output', async () => {
    const run = await create();
    const { metadata, ...said } = await run({ command: 'echo out; ls ./nowhere; exit 1' });
    const { metadata: example, ...expected } = exampleReplies.failure;
    expect(said.is_error).toBe(expected.is_error);
    expect(said.content[0]).toEqual(expected.content[0]);
    expect(shapeOf(metadata)).toEqual(shapeOf(example));
    expect(metadata).toMatchObject({
      exit_code: 1,
      stdout: 'out\n',
      stderr: expect.stringContaining('nowhere'),
    });
    // What else has to be known stands in a text of its own.
    expect(said.content[1]?.text).toBe('Variables held back: MY_TOKEN.');
  });

  it('S4: times out with what it had printed, and nothing of its tree is left', async () => {
    const run = await create();
    const { metadata, ...said } = await run({
      command: "echo so far; echo bad >&2; (trap '' TERM; sleep 3071 & sleep 3071)",
      timeout: 1,
    });
    expect(said.is_error).toBe(true);
    expect(said.content[0]?.text).toBe('Command timed out after 1 seconds');
    expect(shapeOf(metadata)).toEqual(shapeOf(exampleReplies.timeout.metadata));
    expect(metadata).toMatchObject({
      timeout_seconds: 1,
      partial_stdout: 'so far\n',
      partial_stderr: 'bad\n',
    });
    expect(processesWith('sleep\u00003071')).toEqual([]);
  });

  it('S7: tells what the whole tree has used', async () => {
    const run = await create();
    const { metadata } = await run({ command: '(i=0; while ((i < 200000)); do ((i++)); done) & wait' });
    expect(metadata.resources?.cpuMs).toBeGreaterThan(50);
    expect(metadata.resources?.peakMemoryBytes).toBeGreaterThan(1_000_000);
  });

  it('S2: gives the registry the form that all tools have there', async () => {
    const nacre = await createNacre({ loginEnv: 'never', tools: ['shell-execute'] }, place);
    open.push(nacre);
    const result = await nacre.registry.execute('shell_execute', { command: 'echo a; echo b >&2; exit 2' });
    expect(result).toMatchObject({ success: false, output: 'a\n[stderr]\nb\n', metadata: { exit_code: 2 } });
    expect(result.error).toMatch(/^Command failed with exit code 2/);
  });

  it('B9: a dry run says what it would run', async () => {
    const run = await create();
    const { content, is_error } = await run({ command: 'touch ran' }, { dryRun: true });
    expect({ content, is_error }).toEqual({
      content: [{ type: 'text', text: '[Dry Run] Would execute: touch ran' }],
      is_error: false,
    });
  });
});

describe('S5: every error has a message of its own', () => {
  const textOf = async (
    command: string,
    settings: NacreSettings<'shell-execute'> = {},
    more: object = {},
  ): Promise<string> => {
    const run = await create(settings);
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

  it('a file without permission is named, and what a program was not permitted', async () => {
    writeFileSync(join(place.cwd, 'plain.sh'), 'echo hi\n');
    chmodSync(join(place.cwd, 'plain.sh'), 0o600);
    expect(await textOf('./plain.sh')).toMatch(
      /^Command failed with exit code 126: permission denied: \.\/plain\.sh may not be executed\. .*chmod \+x/,
    );
    mkdirSync(join(place.cwd, 'folder'));
    expect(await textOf('./folder')).toContain('./folder cannot be executed: Is a directory.');
    expect(await textOf('echo x > /proc/sys/kernel/random/uuid')).toMatch(
      /: permission denied: .*random\/uuid/,
    );
  });

  it('exhausted memory is told with the limit', async () => {
    const command = 'x=$(head -c 400000000 /dev/zero | tr "\\\\0" x); echo $x';
    const text = await textOf(command, { memoryBytes: 67_108_864 });
    expect(text).toMatch(/^Command failed with exit code \d+: memory exhausted\. .*(memory_bytes|64 MiB)/);
  });

  it('exhausted processes are told with the limit', async () => {
    const command = 'for i in $(seq 40); do sleep 20 & done; wait';
    expect(await textOf(command, { maxProcesses: 12 })).toMatch(
      /^Command failed with exit code \d+: processes exhausted\. .*12/,
    );
  });

  it('an exhausted disk is told: a file over the limit, and a device without space', async () => {
    expect(await textOf('head -c 300000 /dev/zero > big', { fileBytes: 65_536 })).toMatch(
      /^Command failed with exit code \d+: disk exhausted\. .*65\.5 kB/,
    );
    expect(await textOf('echo x > /dev/full')).toMatch(
      /^Command failed with exit code 1: disk exhausted: .*No space left on device\. Free some space/,
    );
  });

  it('exhausted output is told with the quota', async () => {
    expect(await textOf('yes', { ringBytes: 4_096, spoolBytes: 65_536 })).toMatch(
      /^Command failed with exit code \d+: output exhausted\. .*head, tail or grep/,
    );
  });

  it('exhausted CPU time and a cancelled call are told as well', async () => {
    expect(await textOf('while :; do :; done', { cpuSeconds: 1 })).toContain(': CPU time exhausted.');
    const run = await create();
    const controller = new AbortController();
    const cancelled = await run(
      { command: 'echo begun; sleep 30' },
      { signal: controller.signal, onOutput: () => controller.abort() },
    );
    expect(cancelled.content[0]?.text).toMatch(/: it was ended before it finished\.$/);
  });

  it('all invalid parameters are listed at once, and nothing runs', async () => {
    const run = await create();
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
    const held = await run({ command: 'printenv X | wc -c', environment: longest });
    expect(held.metadata).toMatchObject({ stdout: '131001\n' });
  });

  it('a directory that does not exist is an error that keeps what was asked', async () => {
    const run = await create();
    const { content, metadata } = await run({ command: 'true', working_directory: '/no/such' });
    expect(content[0]?.text).toMatch(/^working_directory "\/no\/such" does not exist\./);
    expect(metadata).toEqual({ command: 'true', working_directory: '/no/such' });
  });
});

describe('S8: shell_execute can be bound alone', () => {
  it('to a list, of what ALLOWED_COMMANDS allows', async () => {
    const run = await create({
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
    const run = await create({ shellExecuteCwdRoots: [root] });
    expect((await run({ command: 'pwd', working_directory: join(root, 'in') })).is_error).toBe(false);
    const { content, is_error } = await run({ command: 'pwd', working_directory: '/' });
    expect(is_error).toBe(true);
    expect(content[0]?.text).toBe(
      `working_directory "/" is not allowed: it is not within ${root}. Choose a directory within one of them, or change NACRE_SHELL_EXECUTE_CWD_ROOTS.`,
    );
    const broken = await create({ allowedCwdRoots: [root], shellExecuteCwdRoots: ['/no/such'] });
    expect((await broken({ command: 'pwd', working_directory: root })).content[0]?.text).toBe(
      'Configuration problem: ALLOWED_CWD_ROOTS or NACRE_SHELL_EXECUTE_CWD_ROOTS names /no/such (does not exist). Correct ALLOWED_CWD_ROOTS or NACRE_SHELL_EXECUTE_CWD_ROOTS and restart the server; until then, omit working_directory to use the server’s own directory.',
    );
  });

  it('to variables, which other commands keep', async () => {
    const settings = { shellExecuteEnvPass: ['MY_*'], shellExecuteEnvWithhold: ['PLAIN'] };
    const nacre = await createNacre({ loginEnv: 'never', ...settings, tools: ['shell-execute'] }, place);
    open.push(nacre);
    const command =
      'echo "[$MY_TOKEN] [$PLAIN] [$OTHER]"; tr "\\\\0" "\\n" < /proc/self/environ | grep -c shown';
    const { metadata } = await nacre.tools.shellExecute.run({ command });
    expect(metadata.stdout).toBe('[the-secret-value] [] [too]\n0\n');
    expect((await nacre.run('echo "[$MY_TOKEN] [$PLAIN] [$OTHER]"')).stdout).toBe('[] [shown] [too]\n');
  });
});
