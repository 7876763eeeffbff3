import { knownArg, type TextSpan } from '../words/arg.ts';
import { allOf, refuseOptions } from './effects.ts';
import { stdinText, writeOptions, writesBelow } from './option-effects.ts';
import type { Effect, ProgramEntry } from './program.ts';

/** Programs that execute other programs, but whose arguments are data; many of them are scripts. */
export const scriptToolPrograms: readonly ProgramEntry[] = [
  {
    names: ['egrep', 'fgrep', 'rgrep'],
    closed: ['grep'],
    runs: ['egrep "$(touch x)" f'],
    harmless: ['egrep "a|b" f', 'fgrep -r a .'],
  },
  {
    names: [
      ...['zgrep', 'zegrep', 'zfgrep', 'zdiff', 'zcmp'],
      ...['bzgrep', 'bzegrep', 'bzfgrep', 'bzdiff', 'bzcmp'],
      ...['xzgrep', 'xzegrep', 'xzfgrep', 'xzdiff', 'xzcmp', 'lzgrep', 'lzdiff'],
    ],
    closed: [
      ...['zgrep', 'zdiff', 'zcmp', 'bzgrep', 'bzdiff', 'xzgrep', 'xzdiff', 'bzip2', 'gzip', 'xz', 'zstd'],
      ...['cat', 'cmp', 'diff', 'egrep', 'expr', 'fgrep', 'grep', 'mkdir', 'mktemp', 'rm', 'sed'],
    ],
    runs: ['zgrep "$(touch x)" f.gz'],
    harmless: ['zgrep a f.gz', 'xzdiff a.xz b.xz'],
  },
  {
    names: ['file', 'which', 'ssh-keyscan'],
    closed: [],
    runs: ['which "$(touch x)"'],
    harmless: ['file -b a', 'which ls'],
  },
  {
    names: ['patch'],
    closed: [],
    options: {
      short: 'bcd:D:eEfF:g:i:lnNo:p:r:RstTuvV:x:Y:z:ZB:',
      long: 'backup context directory= ifdef= ed remove-empty-files force fuzz= get= input= ignore-whitespace normal forward output= strip= reject-file= reverse silent quiet batch set-time set-utc unified version verbose version-control= basename-prefix= suffix= prefix= binary dry-run posix merge[=] reject-format= quoting-style= read-only= follow-symlinks backup-if-mismatch no-backup-if-mismatch help',
    },
    effects: allOf(
      refuseOptions({
        e: 'starts ed',
        ed: 'starts ed',
        g: 'starts a version control system',
        get: 'starts a version control system',
      }),
      writeOptions('o', 'output', 'r', 'reject-file'),
      // `-B .git/hooks/` puts a copy of each old file there.
      ({ options }) => options.values('B', 'prefix').flatMap(writesBelow),
      (call) => patchedFiles(stdinText(call), call.self),
      ({ options }) => options.values('d', 'directory').flatMap(writesBelow),
      ({ options }) => options.operands.slice(0, 1).map((path) => ({ does: 'write', path })),
    ),
    runs: [
      'patch ~/.bashrc p',
      'patch -o ~/.bashrc a p',
      'patch -d .git/hooks -i p',
      'patch -e a p',
      'patch -g1 a p',
      'patch -b -B .git/hooks/ pre-commit p',
      'patch -b -z .orig .git/config p',
      "patch -p1 <<'E'\n--- a/.envrc\n+++ b/.envrc\n@@ -1 +1 @@\n-a\n+b\nE",
    ],
    harmless: [
      'patch -p1 -i a.patch',
      'patch -p1 < a.patch',
      "patch -p1 <<'E'\n--- a/x.ts\n+++ b/x.ts\n@@ -1 +1 @@\n-a\n+b\nE",
      'patch --dry-run -R -d sub -p0',
      'patch a.c a.diff',
    ],
  },
  { names: ['wdiff'], closed: ['diff', 'less'], runs: ['wdiff "$(touch x)" b'], harmless: ['wdiff a b'] },
  { names: ['mtr'], closed: ['mtr-packet'], runs: ['mtr "$(touch x)"'], harmless: ['mtr -r -c 1 host'] },
];

/** The files that a known patch changes, with and without the first folder of their paths. */
export function patchedFiles(patch: string, { pos, end }: TextSpan): Effect[] {
  const names = [...patch.matchAll(/^(?:---|\+\+\+|\*\*\*|Index:|rename to)[ \t]+([^\t\n]+)/gm)]
    .map(([, name = '']) => name.trim())
    .filter((name) => name !== '/dev/null');
  const paths = new Set(names.flatMap((name) => [name, name.replace(/^[^/]*\//, '')]));
  return [...paths].map((path) => ({ does: 'write', path: knownArg(path, { pos, end }) }));
}
