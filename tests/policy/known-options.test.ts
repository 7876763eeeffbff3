import { execFileSync, spawnSync } from 'node:child_process';
import { describe, expect, test } from 'vitest';
import { decideCommand } from '../../src/policy/decide-command.ts';
import { optionsOf } from '../../src/policy/options/grammar.ts';
import { programs } from '../../src/policy/programs/catalog.ts';
import { plainPrograms } from '../../src/policy/programs/plain-programs.ts';
import type { ProgramEntry } from '../../src/policy/programs/program.ts';

const path = (process.env.PATH ?? '').split(':');
const installed = new Set(
  execFileSync('bash', ['-c', 'compgen -c'], { encoding: 'utf8', env: { PATH: path.join(':') } })
    .split('\n')
    .filter((name) => name !== ''),
);

/** Programs without an option that starts a program; all their arguments are data or files. */
const dataOnly = new Set(
  `[ base64 bc bunzip2 bzcat bzip2 cat cp csplit dd diff3 echo egrep fgrep file find gunzip gzip hexdump iconv install ln ls
  lz4cat lzcat lzma mkfifo mv od patch pg_dump pg_dumpall pr printf rgrep sdiff shred shuf tac tc touch truncate uncompress
  unlzma unxz xxd xz xzcat zcat zegrep zfgrep zgrep zstd zstdcat`.split(/\s+/),
);

/** Compilers and linkers have hundreds of options; those that start a program or load code are refused by their form. */
const compilers =
  /^(?:(?:.*-)?gcc|g\+\+|cc|c\+\+|c89|c99|cpp|gfortran|gold|ld(?:\..+)?|lld|mold|as|ar|nm|objcopy|patchelf|ranlib|strip|msgfmt)$/;

/** Programs whose options are in tables of their own. */
const ownTables = new Set('eview evim ex git gview gvimdiff rview rvim tar vi view vim vimdiff'.split(' '));

/** Programs whose words are judged one by one, without an option table. */
const judgedByWord = new Set(
  'bridge ip ssh-add ssh-keygen ssh-keyscan test unzip which zip zipinfo'.split(' '),
);

/** The help that a program prints. */
function helpOf(program: string): string {
  const words = program === 'curl' ? ['--help', 'all'] : ['--help'];
  const { stdout, stderr } = spawnSync(program, words, { encoding: 'utf8', timeout: 10_000, input: '' });
  return `${stdout}${stderr}`;
}

/** The manual page of a program, or '' if none is installed. */
function manualOf(program: string): string {
  if (!installed.has('man')) return '';
  const env = { PATH: path.join(':'), LC_ALL: 'C', MANWIDTH: '200' };
  return spawnSync('man', ['-P', 'cat', program], { encoding: 'utf8', timeout: 30_000, env }).stdout ?? '';
}

/** The long options that a text names. */
function longOptionsIn(text: string): string[] {
  const found = text.matchAll(/(?<![\w-])--([a-zA-Z][\w.-]*\w)/g);
  return [...new Set([...found].map(([, name = '']) => name))];
}

function optionsInHelp(program: string): string[] {
  return longOptionsIn(helpOf(program));
}

/** The one-letter options at the beginning of a line. */
function shortOptionsIn(text: string): string[] {
  const found = text.matchAll(/^[ \t]{0,12}-([a-zA-Z0-9])(?=[ ,\t\n=[<|])/gm);
  return [...new Set([...found].map(([, letter = '']) => letter))];
}

/** The options that a line of a help text describes without a value: `  -q, --quiet   print less`. */
function flagsIn(text: string): string[] {
  const found = text.matchAll(/^[ \t]{1,12}(?:-([a-zA-Z0-9])(?:, *--([\w-]+))?|--([\w-]+))(?=\n| {2,}|\t)/gm);
  return [...new Set([...found].flatMap(([, letter, name, only]) => [letter, name, only]))].flatMap(
    (name) => name ?? [],
  );
}

const closed = programs
  .filter((entry) => entry.closed !== undefined && entry.builtin !== 'only')
  .flatMap((entry) => entry.names.map((name) => [name, entry] as const))
  .filter(([name, { open }]) => installed.has(name) && !open?.includes(name));

function isKnown({ options }: ProgramEntry, name: string): boolean {
  const { long } = optionsOf(options ?? {});
  return long.has(name) || (options?.negatable === true && long.has(name.replace(/^no-/, '')));
}

function isAllowed(name: string, option: string): boolean {
  return decideCommand(`${name} ${option} x`, [name]).verdict === 'allow';
}

/** Options with a value that the help shows only in its description. */
const valueElsewhere = new Set(['wget max-redirect', 'wget hsts-file']);

/** `more` shares the table of `less`, and `mandb` and `apropos` that of `man`; the options that choose code are found in any place. */
const sharedTables = new Set('apropos mandb more whatis'.split(' '));

describe('P: options of closed programs', () => {
  const judged = closed.filter(
    ([name]) => !dataOnly.has(name) && !ownTables.has(name) && !compilers.test(name),
  );

  test.each(judged)('every option in the help and the manual of %s is known or refused', (name, entry) => {
    const text = `${helpOf(name)}\n${manualOf(name)}`;
    const { short, long } = optionsOf(entry.options ?? {});
    const names = [...long.keys()];
    const unknown = longOptionsIn(text)
      .filter((option) => !isKnown(entry, option))
      // Manuals mention abbreviations, and break words at the end of a line.
      .filter(
        (option) => !names.some((known) => `no-${known}`.startsWith(option) || known.startsWith(option)),
      )
      .map((option) => `--${option}`);
    const letters = shortOptionsIn(text)
      .filter((letter) => !short.has(letter))
      .map((letter) => `-${letter}`);
    const words = judgedByWord.has(name) ? [] : [...unknown, ...letters];
    expect(words.filter((option) => isAllowed(name, option))).toEqual([]);
  });

  test.each(judged.filter(([name]) => !judgedByWord.has(name) && !sharedTables.has(name)))(
    'no option of %s hides the next word',
    (name, entry) => {
      const { short, long } = optionsOf(entry.options ?? {});
      const hiding = flagsIn(helpOf(name)).filter((flag) => (short.get(flag) ?? long.get(flag)) === 'value');
      expect(hiding.filter((flag) => !valueElsewhere.has(`${name} ${flag}`))).toEqual([]);
    },
  );

  test.each([
    ...ownTables,
    'sed',
    'awk',
    'curl',
    'wget',
    'rsync',
    'gpg',
    'less',
    'man',
    'sqlite3',
    'psql',
    'ed',
  ])('%s --some-new-option is refused', (name) => {
    const words = name === 'tar' ? '-cf x.tar' : name === 'git' ? 'log' : '';
    expect(decideCommand(`${name} ${words} --some-new-option x`, [name]).verdict).toBe('deny');
  });

  // Options whose names suggest that they start something, but that do not take a program.
  const harmless =
    /^(?:dereference-command-line.*|(?:no-)?ignore-command-error|program-headers|programs|executability|command|shell|no-psqlrc|command-f.*|early-input|preserve-.*|editor-.*|no-subscriptions|bourne-shell|c-shell|nopager|.*execstack|.*-exec|.*pic-executable|plugin-opt|(?:.*-)?script)$/;

  // `gawk --exec FILE` reads its program from a file, as `-f` does.
  test.each([...closed.map(([name]) => name), ...plainPrograms.filter((name) => installed.has(name))])(
    'no option of %s takes a program that is not judged',
    (name) => {
      const suspicious = optionsInHelp(name).filter(
        (option) =>
          /command|program|exec|script|shell|pager|editor|plugin|askpass|rsh/.test(option) &&
          !harmless.test(option),
      );
      const allowed = suspicious.filter(
        (option) =>
          decideCommand(`${name} --${option}=./evil x`, [name]).verdict === 'allow' &&
          !(option === 'exec' && /^[gn]?awk$/.test(name)),
      );
      expect(allowed).toEqual([]);
    },
  );
});

describe('P: commands and options of git', () => {
  const git = (...words: string[]): string[] => {
    const { stdout } = spawnSync('git', words, { encoding: 'utf8', timeout: 10_000 });
    return stdout.split(/\s+/).filter((word) => word !== '');
  };

  test.skipIf(!installed.has('git'))('options that run a program are refused by every command', () => {
    const runs =
      /^--(?:exec|upload-pack|receive-pack|ext-diff|open-files-in-pager|extcmd|template|unsafe-paths)=?$/;
    const commands = git('--list-cmds=builtins').filter((name) => !name.includes('--'));
    expect(commands.length).toBeGreaterThan(100);
    const allowed = commands.flatMap((command) =>
      git(command, '--git-completion-helper-all')
        .filter((option) => runs.test(option) && !(command === 'commit' && option.startsWith('--template')))
        .map((option) => `git ${command} ${option.replace('=', '')}=./evil x`)
        .filter((line) => decideCommand(line, ['git']).verdict === 'allow'),
    );
    expect(allowed).toEqual([]);
  });

  test('a command that is not known is refused', () => {
    expect(decideCommand('git some-new-command', ['git'])).toMatchObject({
      verdict: 'deny',
      rule: 'unknown_subcommand',
    });
  });
});
