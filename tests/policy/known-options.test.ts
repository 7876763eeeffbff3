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
  unlzma unxz xz xzcat zcat zegrep zfgrep zgrep zstd zstdcat`.split(/\s+/),
);

/** Compilers and linkers have hundreds of options; those that start a program or load code are refused by their form. */
const compilers =
  /^(?:(?:.*-)?gcc|g\+\+|cc|c\+\+|c89|c99|cpp|gfortran|gold|ld(?:\..+)?|lld|mold|as|ar|nm|objcopy|patchelf|ranlib|strip|msgfmt)$/;

/** Programs whose options are in tables of their own. */
const ownTables = new Set('eview evim ex git gview gvimdiff rview rvim tar vi view vim vimdiff'.split(' '));

/** The long options that a program's help names. */
function optionsInHelp(program: string): string[] {
  const words = program === 'curl' ? ['--help', 'all'] : ['--help'];
  const { stdout, stderr } = spawnSync(program, words, { encoding: 'utf8', timeout: 10_000, input: '' });
  const found = `${stdout}${stderr}`.matchAll(/(?<![\w-])--([a-zA-Z][\w.-]*\w)/g);
  return [...new Set([...found].map(([, name = '']) => name))];
}

const closed = programs
  .filter((entry) => entry.closed !== undefined && entry.builtin !== 'only')
  .flatMap((entry) => entry.names.map((name) => [name, entry] as const))
  .filter(([name, { open }]) => installed.has(name) && !open?.includes(name));

function isKnown({ options }: ProgramEntry, name: string): boolean {
  const { long } = optionsOf(options ?? {});
  return long.has(name) || (options?.negatable === true && long.has(name.replace(/^no-/, '')));
}

describe('P: options of closed programs', () => {
  test.each(closed.filter(([name]) => !dataOnly.has(name) && !ownTables.has(name) && !compilers.test(name)))(
    'every option in the help of %s is known or refused',
    (name, entry) => {
      const unknown = optionsInHelp(name).filter((option) => !isKnown(entry, option));
      const allowed = unknown.filter(
        (option) => decideCommand(`${name} --${option} x`, [name]).verdict === 'allow',
      );
      expect(allowed).toEqual([]);
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

  test.each([...closed.map(([name]) => name), ...plainPrograms.filter((name) => installed.has(name))])(
    'no option of %s takes a program that is not judged',
    (name) => {
      const suspicious = optionsInHelp(name).filter(
        (option) =>
          /command|program|exec|script|shell|pager|editor|plugin|askpass|rsh/.test(option) &&
          !harmless.test(option),
      );
      const allowed = suspicious.filter(
        (option) => decideCommand(`${name} --${option}=./evil x`, [name]).verdict === 'allow',
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
