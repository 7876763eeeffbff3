import { execFileSync, spawnSync } from 'node:child_process';
import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { spawn } from '@lydell/node-pty';
import { afterAll, describe, expect, it, vi } from 'vitest';
import { doors } from '../../src/doors/catalog.ts';
import { exitCodes } from '../../src/doors/exit-codes.ts';
import { listSettings } from '../../src/settings/define.ts';
import { createPlace, runInProcess, sleep } from '../support/nacre.ts';
import { needPrograms } from '../support/needs.ts';

vi.setConfig({ testTimeout: 60_000 });

const place = createPlace();
const scripts = join(place.cwd, 'scripts');
const empty = join(place.cwd, 'empty');
mkdirSync(scripts);
mkdirSync(join(empty, 'some folder'), { recursive: true });
afterAll(() => rmSync(place.cwd, { recursive: true, force: true }));

const fileOf = (shell: string) => join(scripts, `nacre.${shell}`);
for (const shell of ['bash', 'zsh', 'fish'])
  writeFileSync(fileOf(shell), (await runInProcess(['completions', shell], place)).stdout);

/** Command lines with their completions, in every shell. */
const cases: readonly [words: readonly string[], expected: readonly string[]][] = [
  [['rep'], ['replay']],
  [['serve', '--sandb'], ['--sandbox']],
  [
    ['serve', '--sandbox', ''],
    ['off', 'strict', 'workspace'],
  ],
  [
    ['replay', '--export', ''],
    ['v2', 'v3'],
  ],
  [
    ['audit', ''],
    ['export', 'prune', 'show', 'tail', 'verify'],
  ],
  [['audit', '--program', 'ls', 'ver'], ['verify']],
  [['approvals', 'd'], ['deny']],
  [
    ['completions', ''],
    ['bash', 'fish', 'zsh'],
  ],
  [['serve', '--tools', 'terminal,ba'], ['terminal,bash']],
  [['logs', '--fol'], ['--follow']],
];

describe('nacre completions', () => {
  it.for(['bash', 'zsh', 'fish'])('prints a valid script for %s', (shell, context) => {
    needPrograms(context, shell);
    const { status, stderr } = spawnSync(shell, ['-n', fileOf(shell)], { encoding: 'utf8' });
    expect({ status, stderr }).toEqual({ status: 0, stderr: '' });
  });

  it.for([
    ['bash', inBash],
    ['fish', inFish],
  ] as const)('completes commands, flags and values in %s', ([shell, complete], context) => {
    needPrograms(context, shell);
    const lines = cases.map(([words]) => words);
    expect(zip(lines, complete(lines))).toEqual(cases);
  });

  it('offers every command and every flag', (context) => {
    needPrograms(context, 'fish');
    const [inBashFirst, inFishFirst] = [inBash, inFish].map((complete) => complete([['']])[0]);
    expect(inBashFirst).toEqual([...Object.keys(doors), '--help', '--version'].sort());
    expect(inFishFirst).toEqual(Object.keys(doors).sort());
    const flagsOf = Object.values(doors).map(({ flags }) => listSettings(flags).flatMap((one) => one.flags));
    const names = Object.keys(doors);
    const offeredInBash = inBash(names.map((name) => [name, '-']));
    const offeredInFish = inFish(names.map((name) => [name, '--']));
    for (const [index, own] of flagsOf.entries()) {
      const long = own.filter((flag) => flag.startsWith('--'));
      const common = ['--help', '--allow', '--config'];
      expect(offeredInBash[index]).toEqual(expect.arrayContaining([...own, ...common]));
      expect(offeredInFish[index]).toEqual(expect.arrayContaining([...long, ...common]));
    }
  });

  it('completes values after an equals sign, files, and programs with their arguments in bash', () => {
    const expected: typeof cases = [
      [['serve', '--sandbox', '=', 'w'], ['workspace']],
      [['run', '--cwd', ''], ['some folder']],
      [['mcp', '--cwd', ''], ['some folder']],
      [['workflow', 'so'], ['some folder']],
      [['run', 'mkfif'], ['mkfifo']],
      [['run', 'ls', '--sandb'], []],
      [['run', 'ls', ''], ['some folder']],
      [['serve', '--host', ''], []],
      [['ps', ''], []],
    ];
    const lines = expected.map(([words]) => words);
    expect(zip(lines, inBash(lines))).toEqual(expected);
  });

  it.for([
    ['bash', ['--norc', '-i'], ''],
    ['zsh', ['-f', '-i'], 'autoload -U compinit; compinit -u -D; zstyle ":completion:*" menu no; '],
  ] as const)('works in an interactive %s', async ([shell, args, before], context) => {
    needPrograms(context, shell);
    const setUp = `${before}source ${fileOf(shell)}; echo rea''dy`;
    const typed = await type(shell, args, setUp, [
      'nacre comp\t',
      'z\t',
      '\x15',
      'nacre audit --sandb\t',
      'wor\t',
      '\x15',
      'nacre mcp --tools terminal,ba\t',
    ]);
    expect(typed).toContain('terminal,bash');
    expect(typed).toContain('nacre completions zsh');
    expect(typed).toMatch(/nacre audit --sandbox[ =]workspace/);
  });

  it.each([[[]], [['tcsh']], [['bash', 'zsh']]])('lists the supported shells for %j', async (words) => {
    const { code, stderr } = await runInProcess(['completions', ...words], place);
    expect(code).toBe(125);
    expect(stderr).toContain('Use one of bash, zsh, fish.');
  });
});

describe('nacre man', () => {
  it('prints a page without warnings, with every command and every flag', async (context) => {
    needPrograms(context, 'man');
    const { stdout, code } = await runInProcess(['man'], place);
    expect(code).toBe(0);
    const file = join(scripts, 'nacre.1');
    writeFileSync(file, stdout);
    const env = { ...place.env, MANWIDTH: '100', MAN_KEEP_FORMATTING: '', LC_ALL: 'C.UTF-8' };
    const { stdout: page, stderr } = spawnSync('man', ['--warnings', '-l', file], { env, encoding: 'utf8' });
    expect(stderr).toBe('');
    for (const [name, { flags }] of Object.entries(doors)) {
      expect(page).toMatch(new RegExp(`^ {3}nacre ${name}\\b`, 'm'));
      for (const flag of listSettings(flags).flatMap((setting) => setting.flags))
        expect(page).toContain(flag);
    }
    expect(page).toContain('ALLOWED_COMMANDS');
    for (const code of Object.values(exitCodes)) expect(exitStatusOf(page)).toContain(String(code));
    expect(exitStatusOf(page)).toMatch(/^ +124 +The command of nacre run timed out\.$/m);
    expect(exitStatusOf(page)).toMatch(/^ +128 \+ N\n? +Signal N killed the command/m);
  });

  it('is built as dist/nacre.1', async () => {
    const shipped = execFileSync('cat', ['dist/nacre.1'], { encoding: 'utf8' });
    expect(shipped).toBe((await runInProcess(['man'], place)).stdout);
  });
});

function exitStatusOf(page: string): string {
  return page.slice(page.indexOf('EXIT STATUS'));
}

type Lines = readonly (readonly string[])[];

/** Completes several command lines in one bash. */
function inBash(lines: Lines): readonly string[][] {
  const ask = lines.map(
    (words) => `COMP_WORDS=(nacre ${words.map(quote).join(' ')}); COMP_CWORD=${words.length}; _nacre
      printf '%s\\n' "\${COMPREPLY[@]}" ---`,
  );
  return offered('bash', ['-c', `source ${fileOf('bash')}\n${ask.join('\n')}`]);
}

/** Completes several command lines in one fish. */
function inFish(lines: Lines): readonly string[][] {
  const ask = lines.map((words) => `complete -C "nacre ${words.join(' ')}"; echo ---`);
  return offered('fish', ['--no-config', '-c', `source ${fileOf('fish')}; ${ask.join('; ')}`]);
}

function offered(program: string, args: readonly string[]): readonly string[][] {
  const { stdout, stderr } = spawnSync(program, args, { cwd: empty, env: place.env, encoding: 'utf8' });
  expect(stderr).toBe('');
  const answers = stdout.split('---\n').slice(0, -1);
  return answers.map((answer) => {
    const words = answer.split('\n').map((line) => line.split('\t')[0] ?? '');
    return [...new Set(words)].filter((word) => word !== '').sort();
  });
}

function zip(lines: Lines, answers: readonly string[][]): readonly unknown[] {
  return lines.map((words, index) => [words, answers[index]]);
}

function quote(word: string): string {
  return `'${word}'`;
}

/** The screen of a terminal after typing into a shell, piece by piece. */
async function type(
  program: string,
  args: readonly string[],
  setUp: string,
  pieces: readonly string[],
): Promise<string> {
  const env = { ...place.env, PS1: '$ ', TERM: 'dumb' };
  const terminal = spawn(program, [...args], { cwd: empty, env, cols: 200, rows: 50 });
  let shown = '';
  terminal.onData((data) => {
    shown += data;
  });
  const ended = new Promise((resolve) => terminal.onExit(resolve));
  try {
    terminal.write(`${setUp}\r`);
    await until(() => shown.includes('ready'));
    for (const piece of pieces) {
      const before = shown.length;
      terminal.write(piece);
      await until(() => shown.length >= before + piece.length);
      await settled(() => shown.length);
    }
    // A backspace removes the character before it.
    return shown.replace(/[^\x08]\x08/g, '');
  } finally {
    terminal.write('\x15exit\r');
    await ended;
  }
}

async function until(holds: () => boolean): Promise<void> {
  for (let tries = 0; tries < 1_000 && !holds(); tries += 1) await sleep(20);
}

async function settled(measure: () => number): Promise<void> {
  for (let before = -1; before !== measure(); await sleep(100)) before = measure();
}
