import { noOptions } from '../options/grammar.ts';
import { parseOptions } from '../options/parse-options.ts';
import type { ProgramCall } from '../options/program-call.ts';
import { type Arg, knownArg, prefixOf, type TextSpan, wordText } from '../words/arg.ts';
import type { DangerFound, DangerRule } from './danger-rule.ts';
import { findProtectedPlace, type ProtectedPlace } from './protected-places.ts';

const rmOptions = {
  short: 'fiIrRdvP',
  long: 'force interactive[=] one-file-system no-preserve-root preserve-root[=] recursive dir verbose help version',
};

/** Deleting the root, a home or a system directory with `rm`, `find`, `mv` or `rsync`. */
export const deleteRules: readonly DangerRule[] = [
  {
    rule: 'recursive_delete',
    programs: ['rm', 'srm', 'grm', 'trash', 'rimraf', 'del-cli'],
    test: testRm,
    matches: [
      'rm -rf /',
      'rm -r -f /*',
      'rm --recur --force //',
      'rm / -fR',
      'rm -rf /usr/..',
      'rm -rf /./',
      'rm -rf ~',
      'rm -rf "$HOME"/',
      'rm -rf ~/*',
      'rm -rf /etc',
      'rm -rf /u*',
      'rm -rf -- /home/alice',
      'cd / && rm -rf *',
      'x=/; rm -rf $x',
      'rm -rf /{bin,etc}',
      'bash -c "rm -rf /"',
      'for d in /bin /etc; do rm -r "$d"; done',
      'echo / | xargs rm -rf',
      'rm -rf ../../../../../../*',
      'rm -f /bin/*',
      'rimraf /',
      'rm -rf "/$x"',
      'cd / && ls -A | xargs rm -rf',
      'ls -d ~/* | xargs rm -rf',
      'echo /* | xargs rm -rf',
    ],
    spares: [
      'rm -rf ./build',
      'rm -rf /tmp/x',
      'rm -rf /tmp/*',
      'rm -rf node_modules dist',
      'rm -rf ~/project/build',
      'rm -f /etc',
      'rm -rf /var/lib/apt/lists/*',
      'rm -rf ../build',
      'rm -rf "$DIR"',
      'echo "rm -rf /"',
      'cd /tmp/work && rm -rf *',
      'rm -rf /app/dist',
      'rm -rf "$DIR"/* /tmp/$x /srv/$app/current',
      'ls | xargs rm -rf',
      'cd ~ && ls *.log | xargs rm -f',
      'echo *.o | xargs rm -f',
    ],
  },
  {
    rule: 'recursive_delete',
    programs: ['find', 'gfind', 'bfs', 'fd', 'fdfind'],
    test: testFind,
    matches: [
      'find / -delete',
      'find -L / -type f -delete',
      'find ~ -delete',
      'find "$HOME" -mindepth 1 -delete',
      'find /etc -type f -delete',
      'cd / && find . -delete',
      'cd / && find -type f -delete',
      'cd ~ && find -exec rm -rf {} +',
      'cd / && find | xargs rm',
      'find / -exec rm -rf {} +',
      'find / -type f -exec rm -f {} +',
      'find / -name "*" -delete',
      'find / -print0 | xargs -0 rm -rf',
      'find ~ -type f | xargs rm -f',
    ],
    spares: [
      'find . -name "*.pyc" -delete',
      'find /tmp -mtime +7 -delete',
      'find / -name core',
      'find ~ -name "*.bak" -delete',
      'find build -delete',
      'find ~/Downloads -name x -exec rm {} +',
    ],
  },
  {
    rule: 'recursive_delete',
    programs: ['mv', 'rsync', 'unlink', 'rmdir'],
    test: testMove,
    matches: [
      'mv / /backup',
      'mv ~ /dev/null',
      'mv /usr /usr.old',
      'mv /* /tmp/trash',
      'rsync -a --delete empty/ /',
      'rsync --del -a empty/ ~/',
    ],
    spares: [
      'mv a b',
      'mv ~/a ~/b',
      'mv *.txt /tmp',
      'rsync -a src/ /home/u/backup/src/',
      'rsync -a --delete src/ dst/',
      'rsync -a ~/ /mnt/backup/',
    ],
  },
];

function placeOf(call: ProgramCall, arg: Arg): ProtectedPlace | undefined {
  return findProtectedPlace(arg, call.cwd, call.home);
}

function describePlace(place: ProtectedPlace): string {
  const what = {
    root: 'the root directory',
    home: 'a home directory',
    system: `the system directory ${place.path}`,
  }[place.kind];
  return place.content ? `everything in ${what}` : what;
}

function testRm(call: ProgramCall): DangerFound | undefined {
  const options = parseOptions(call.args, rmOptions);
  const recursive =
    options.has('r', 'R', 'recursive') ||
    call.name === 'rimraf' ||
    call.name === 'trash' ||
    call.name === 'del-cli';
  const forced = options.given.find((option) => option.name === 'no-preserve-root');
  for (const at of options.operands) {
    const place = placeOf(call, at);
    if (place === undefined) continue;
    const emptied = place.content && place.kind === 'system';
    if (recursive || emptied) return { at, reason: `it deletes ${describePlace(place)}` };
  }
  return recursive && forced !== undefined
    ? { at: forced.at, reason: 'it deletes without preserving the root directory' }
    : undefined;
}

const selective =
  /^-(?:i?name|i?path|i?wholename|i?regex|[acm]time|[acm]min|newer.*|empty|size|user|group|nouser|nogroup|perm|inum|samefile|links)$/;

function testFind(call: ProgramCall): DangerFound | undefined {
  const deletes = call.args.some(
    (arg, index) =>
      arg.text === '-delete' ||
      (/^-(?:exec|ok)(?:dir)?$/.test(wordText(arg)) && removes(call.args[index + 1])),
  );
  if (!deletes) return undefined;
  for (const at of startingPoints(call)) {
    const place = placeOf(call, at);
    if (place === undefined) continue;
    if (place.kind === 'root' || !isSelective(call.args))
      return { at, reason: `it deletes ${describePlace(place)}` };
  }
  return undefined;
}

function removes(program: Arg | undefined): boolean {
  return /^(?:.*\/)?(?:rm|unlink|shred|srm)$/.test(wordText(program));
}

/** Returns the directories that `find` would search; `.` if none is named. */
export function startingPoints({ args, self }: Pick<ProgramCall, 'args' | 'self'>): readonly Arg[] {
  const start = args.findIndex((arg) => !/^-(?:[HLP]|O\d?|D)$/.test(wordText(arg)));
  const rest = start < 0 ? [] : args.slice(start);
  const end = rest.findIndex((arg) => /^[-(!),]/.test(prefixOf(arg)));
  const named = end < 0 ? rest : rest.slice(0, end);
  return named.length === 0 ? [knownArg('.', self)] : named;
}

/** Adds `-R` to `rm`, `chmod`, `chown` and `chgrp`: applied to every path that `find` prints, they act recursively. */
export function withRecursive(argv: readonly Arg[], span: TextSpan): readonly Arg[] {
  const [program, ...words] = argv;
  if (program === undefined || !/^(?:.*\/)?(?:rm|chmod|chown|chgrp)$/.test(wordText(program))) return argv;
  return [program, knownArg('-R', span), ...words];
}

/** Returns true if `find`'s tests select some files rather than all. */
export function isSelective(args: readonly Arg[]): boolean {
  return args.some((arg, index) => {
    if (!selective.test(wordText(arg))) return false;
    const value = args[index + 1]?.text;
    return (
      !/^-(?:i?name|i?path|i?wholename)$/.test(wordText(arg)) || value === undefined || /[^*?.]/.test(value)
    );
  });
}

function testMove(call: ProgramCall): DangerFound | undefined {
  const options = parseOptions(call.args, moveOptions[call.name] ?? noOptions);
  if (call.name !== 'rsync')
    return moveAway(
      call,
      options.has('t', 'target-directory') ? options.operands : options.operands.slice(0, -1),
    );
  const deletes = call.args.find((arg) => /^--del/.test(wordText(arg)));
  const target = options.operands.at(-1);
  const place = target && placeOf(call, target);
  return deletes && target && place
    ? { at: target, reason: `it deletes what is not in its source from ${describePlace(place)}` }
    : undefined;
}

function moveAway(call: ProgramCall, sources: readonly Arg[]): DangerFound | undefined {
  for (const at of sources) {
    const place = placeOf(call, at);
    // `mv * dir` is allowed in a home directory.
    if (place !== undefined && !(place.content && place.kind === 'home'))
      return { at, reason: `it moves away ${describePlace(place)}` };
  }
  return undefined;
}

const moveOptions: Readonly<Record<string, { short: string; long: string }>> = {
  mv: {
    short: 'bfinS:t:TuvZ',
    long: 'backup[=] force interactive no-clobber strip-trailing-slashes suffix= target-directory= no-target-directory update[=] verbose',
  },
};
