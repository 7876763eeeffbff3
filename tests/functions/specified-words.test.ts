import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import {
  BashLimits,
  createNacre,
  type Nacre,
  ShellExecuteLimits,
  ShellStatus,
  ToolCategory,
} from '../../src/index.ts';
import { createPlace, surroundingsOf, survivors } from '../support/nacre.ts';

const place = createPlace();
let nacre: Nacre<'all'>;
beforeAll(async () => {
  nacre = await createNacre(
    { tools: ['all'], allowedCommands: ['*'], loginEnv: 'never' },
    surroundingsOf(place),
  );
});
afterAll(async () => {
  await nacre.close();
  expect(await survivors(place.mark)).toEqual([]);
});

const described = (name: string) => nacre.registry.get(name)?.description.split('\n') ?? [];
const properties = (name: string) =>
  nacre.registry.get(name)?.inputSchema().properties as Record<string, object>;

describe('B3: descriptions contain the sentences of the specification', () => {
  it.each([
    ['Bash', 'IMPORTANT: This tool is for terminal operations like git, npm, docker, etc.'],
    ['Bash', 'DO NOT use it for file operations - use the specialized file tools instead.'],
    ['Bash', '- The command argument is required'],
    ['Bash', '- Quote file paths with spaces using double quotes'],
    ['Bash', '- Use && to chain dependent commands'],
    ['Bash', "- Use ; when you don't care if earlier commands fail"],
    ['BashOutput', '- Returns stdout and stderr along with shell status'],
    ['BashOutput', '- Use this to monitor long-running background commands'],
    ['KillShell', '- Takes a shell_id parameter identifying the shell to kill'],
    ['KillShell', '- Use this to terminate long-running commands'],
  ])('%s: %s', (name, sentence) => {
    expect(described(name)).toContain(sentence);
  });
});

describe('default keys', () => {
  it('B3: are in the schema of Bash, where a background shell still has no time limit by default', () => {
    expect(properties('Bash')).toMatchObject({
      timeout: { type: 'integer', default: 120_000, minimum: 1_000, maximum: 600_000 },
      run_in_background: { type: 'boolean', default: false },
    });
  });

  it('S1: are in the schema of shell_execute', () => {
    expect(properties('shell_execute')).toMatchObject({
      timeout: { type: 'integer', default: 300, minimum: 1, maximum: 1_800 },
      command: { type: 'string' },
    });
  });
});

it('B10: a blocked command is quoted after the words of the specification, followed by the reason', async () => {
  const { error } = await nacre.tools.bash.run({ command: 'rm -rf /' });
  expect(error).toMatch(/^Command blocked for security reasons: rm -rf \/\nrm is blocked as dangerous: /);
});

it('B13: statuses, categories and limits are values that a program can import', () => {
  expect(Object.values(ShellStatus)).toEqual([
    'pending',
    'running',
    'completed',
    'failed',
    'timeout',
    'killed',
  ]);
  expect(BashLimits).toEqual({
    DEFAULT_TIMEOUT: 120_000,
    MIN_TIMEOUT: 1_000,
    MAX_TIMEOUT: 600_000,
    MAX_OUTPUT_SIZE: 30_000,
  });
  expect(ShellExecuteLimits).toEqual({ DEFAULT_TIMEOUT: 300, MIN_TIMEOUT: 1, MAX_TIMEOUT: 1_800 });
  expect(nacre.registry.list(ToolCategory.EXECUTION)).toEqual(nacre.registry.list());
});

it('S1: shell_execute passes stdin to the command', async () => {
  const { metadata } = await nacre.tools.shellExecute.run({ command: 'cat', stdin: 'hello' });
  expect(metadata).toMatchObject({ stdout: 'hello', exit_code: 0 });
});

it('E4: a byte order mark is part of the output', async () => {
  const pieces: string[] = [];
  const command = "printf '\\357\\273\\277a'";
  const onOutput = ({ text }: { text: string }) => void pieces.push(text);
  expect((await nacre.tools.executeCommand.run({ command }, { onOutput })).metadata.stdout).toBe('\ufeffa');
  expect(pieces.join('')).toBe('\ufeffa');
});
