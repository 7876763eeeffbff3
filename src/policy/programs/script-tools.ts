import type { ProgramEntry } from './program.ts';

/** Programs whose arguments are data, and that execute others to do their work; many are scripts. */
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
    names: ['file', 'which', 'patch', 'ssh-keyscan'],
    closed: [],
    runs: ['which "$(touch x)"'],
    harmless: ['file -b a', 'which ls', 'patch -p1 -i a.patch'],
  },
  { names: ['wdiff'], closed: ['diff', 'less'], runs: ['wdiff "$(touch x)" b'], harmless: ['wdiff a b'] },
  { names: ['mtr'], closed: ['mtr-packet'], runs: ['mtr "$(touch x)"'], harmless: ['mtr -r -c 1 host'] },
];
