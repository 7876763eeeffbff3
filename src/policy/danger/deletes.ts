import { noOptions } from '../options/grammar.ts';
import { parseOptions } from '../options/parse-options.ts';
import type { ProgramCall } from '../options/program-call.ts';
import { type Arg, knownArg, prefixOf, type TextSpan, withoutPrefix, wordText } from '../words/arg.ts';
import type { DangerFound, DangerRule } from './danger-rule.ts';
import { findProtectedPlace, isListing, mayBeEmptied, type ProtectedPlace } from './protected-places.ts';

const rmOptions = {
  short: 'fiIrRdvP',
  long: 'force interactive[=] one-file-system no-preserve-root preserve-root[=] recursive dir verbose help version',
};

/** Deleting the root, a home or a system directory with `rm`, `find`, `mv` or `rsync`. */
export const deleteRules: readonly DangerRule[] = [
  {
    rule: 'recursive_delete',
    programs: ['rm', 'srm', 'grm', 'trash', 'trash-put', 'rimraf', 'del-cli'],
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
      'ls / | xargs rm -rf',
      'ls -A / | xargs -I{} rm -rf /{}',
      'ls / | while read d; do rm -rf /$d; done',
      'cd / && ls | while read -r d; do rm -rf "$d"; done',
      "ls / | tr '\\n' '\\0' | xargs -0 rm -rf",
      `mapfile -t a < <(ls -d /*); rm -rf "\${a[@]}"`,
      'rm -rf /proc/1/root/',
      'rm -rf /proc/self/root/etc',
      'cd /proc/self/root && rm -rf *',
      'rm -rf /proc/$$/root/',
      "printf '/\\0' | xargs -0 rm -rf",
      'echo / | tr -d x | xargs rm -rf',
      'run0 rm -rf /',
      'some-unknown-wrapper --flag rm -rf /',
      'perl -e "system(q(rm -rf /))"',
      "perl -e 'system qw(rm -rf /)'",
      "printf '%s\\0' /* | xargs -0 rm -rf",
      'xargs -a <(echo /) rm -rf',
      'rm -rf "$PWD/../../../../.."',
      "echo '/ fr- mr' | rev | sh",
      'xxd -r -p <<< 726d202d7266202f | sh',
      "tr a-z n-za-m <<< 'ez -es /' | sh",
      `set -- a /; rm -rf \${@: -1}`,
      'set -- /*; rm -rf "$@"',
      'f() { for i; do rm -rf "$i"; done; }; f /*',
      `mapfile -t a <<< /etc; rm -rf "\${a[@]}"`,
      'find /etc | while read -r f; do rm -rf "$f"; done',
      'rm -rf $(find /etc)',
      ': /etc; rm -rf $_',
      "alias q='rm -rf'; q /*",
      'rm -rf "$x/"',
      'rm -rf /dev/fd/../root/etc',
      'echo "rm -rf /" > s; sh s',
      'echo "rm -rf /" > s; chmod +x s; ./s',
      'rm -rf $(printf "\\57")',
      'rm -rf "$(dirname /etc)"',
      'rm -rf "$(cd / && pwd)"',
      'rm -rf "$(realpath /usr/..)"',
      "PROMPT_COMMAND='rm -rf /' bash -i",
      "PS4='$(rm -rf /)' bash -x s",
      'hash -p /bin/rm ls; ls -rf /',
      "head -1 <<< 'rm -rf /' | grep r | sh",
      "sed s/x/r/ <<< 'xm -rf /' | sh",
      "cut -c2- <<< 'xrm -rf /' | sh",
      'python3 -c \'print("rm -rf /")\' | sh',
      'awk \'BEGIN { print "rm -rf /" }\' | sh',
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
      'ls build | xargs -I{} rm -rf build/{}',
      'ls /tmp | while read -r f; do rm -rf "/tmp/$f"; done',
      'cd ~ && ls *.log | xargs rm -f',
      'echo *.o | xargs rm -f',
      'ls / | grep old | xargs rm -rf',
      'rm -rf "$(dirname "$f")/x" "$(pwd)/build"',
      'cd /srv/app && rm -rf "$(pwd)"',
      'python3 -c \'print("rm -rf /")\'',
      "echo 'rm -rf /' | grep -c rm",
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
      'find ~ ! -name x -delete',
      'find ~ -name "[a-z]*" -delete',
      'find ~ -mtime +0 -delete',
      'find ~ -name a -o -delete',
      'find / -exec truncate -s 0 {} +',
      'find / -exec cp /dev/null {} \\;',
      'for f in $(find / -type f); do rm -f "$f"; done',
      'fd -H . ~ -x rm',
      'find / -type f -print0 | xargs -0 shred -u',
    ],
    spares: [
      'find . -name "*.pyc" -delete',
      'find /tmp -mtime +7 -delete',
      'find / -name core',
      'find ~ -name "*.bak" -delete',
      'find build -delete',
      'find ~/Downloads -name x -exec rm {} +',
      'find ~ -name "*.jpg" -exec cp {} photos/ \\;',
      'find src -name "*.orig" | while read -r f; do rm "$f"; done',
      'fd -e log . /var/log/app -x rm',
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
      'rsync -a --remove-source-files / /backup',
      'rsync -a --delete empty/ root@host:/',
      'mv ~/* /dev/null',
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
  {
    rule: 'recursive_delete',
    programs: ['tar', 'gtar', 'bsdtar', 'zip', '7z'],
    test: testPacked,
    matches: [
      'tar --remove-files -cf x.tar /',
      'tar -cf x.tar --remove-file ~',
      'tar -C / --remove-files -cf /tmp/x.tar .',
      'zip -rm x.zip /etc',
      'tar -xf x.tar -C / --recursive-unlink',
    ],
    spares: [
      'tar --remove-files -czf logs.tgz logs',
      'tar -cf x.tar /etc',
      'zip -m x.zip a.log',
      'zip -r x.zip /etc',
    ],
  },
  {
    rule: 'recursive_delete',
    programs: ['shred', 'truncate'],
    test: (call) => {
      const at = call.args.find((arg) => !prefixOf(arg).startsWith('-') && placeOf(call, arg) !== undefined);
      return at && { at, reason: 'it overwrites the files of a home or system directory' };
    },
    matches: ['find / | xargs shred', 'shred -u /etc/*'],
    spares: ['shred -u secret.txt', 'truncate -s 0 /var/log/app.log', 'find build | xargs shred'],
  },
  {
    rule: 'recursive_delete',
    programs: ['gzip', 'bzip2', 'xz', 'zstd', 'lzma', 'lzip', 'lz4', 'rename', 'prename', 'file-rename'],
    test: testReplaced,
    matches: ['gzip -r /etc', 'bzip2 -f /etc/*', 'xz -zr /usr', 'rename x y /bin/*', "rename 's/^/x/' /*"],
    spares: ['gzip -r logs', 'gzip -c /etc/passwd', 'gzip -lr /etc', 'rename .htm .html *', 'xz -k /etc/*'],
  },
  {
    rule: 'recursive_delete',
    programs: ['git'],
    test: testClean,
    matches: [
      'cd / && git clean -fdx',
      'git -C / clean -ffdx',
      'git -C ~ clean -fd',
      'git --work-tree=/ clean -xfd',
    ],
    spares: ['git clean -fdx', 'git -C ~/project clean -fdx', 'cd / && git clean -n', 'git -C / status'],
  },
  {
    rule: 'recursive_delete',
    programs: ['rclone', 'gio'],
    test: testRemover,
    matches: ['rclone purge /', 'rclone sync empty /', 'rclone delete ~', 'gio trash /', 'gio remove -f ~'],
    spares: ['rclone copy ~ remote:home', 'rclone purge remote:old', 'gio trash a.txt', 'gio list /'],
  },
];

/** Compressors replace the files that they read, unless they keep or only print them. */
function testReplaced(call: ProgramCall): DangerFound | undefined {
  const keeps = call.args.some((arg) =>
    /^(?:-[a-zA-Z0-9]*[cklt][a-zA-Z0-9]*|--(?:stdout|to-stdout|keep|list|test|no-act|dry-run)|-n)$/.test(
      wordText(arg),
    ),
  );
  const at = keeps
    ? undefined
    : call.args.find((arg) => !prefixOf(arg).startsWith('-') && placeOf(call, arg) !== undefined);
  const place = at && placeOf(call, at);
  return at && place && { at, reason: `it replaces the files in ${describePlace(place)}` };
}

/** `git clean` deletes everything that is not in the repository; a repository at `/` or a home has little of it. */
function testClean(call: ProgramCall): DangerFound | undefined {
  const words = call.args.map(wordText);
  const verb = words.indexOf('clean');
  const at = call.args[verb];
  if (at === undefined || !words.slice(verb).some((word) => /^(?:-[a-z]*f[a-z]*|--force)$/.test(word)))
    return undefined;
  const named = call.args.flatMap((arg, index) => {
    if (words[index - 1] === '-C' || words[index - 1] === '--work-tree') return [arg];
    return prefixOf(arg).startsWith('--work-tree=') ? [withoutPrefix(arg, '--work-tree='.length)] : [];
  });
  const folders = named.length === 0 ? [knownArg('.', call.self)] : named;
  const place = folders.map((folder) => placeOf(call, folder)).find((found) => found !== undefined);
  return place && { at, reason: `it deletes everything in ${describePlace({ ...place, content: false })}` };
}

/** Programs with a subcommand that deletes a folder, or the files that are missing in its source. */
function testRemover(call: ProgramCall): DangerFound | undefined {
  const [verb, ...rest] = call.args.filter((arg) => !prefixOf(arg).startsWith('-'));
  if (!/^(?:purge|delete|sync|rmdirs|move|trash|remove)$/.test(wordText(verb))) return undefined;
  const targets = wordText(verb) === 'sync' ? rest.slice(1) : rest;
  const at = targets.find((arg) => placeOf(call, arg) !== undefined);
  const place = at && placeOf(call, at);
  return at && place && { at, reason: `it deletes ${describePlace(place)}` };
}

/** Archivers that delete the files they have packed. */
function testPacked(call: ProgramCall): DangerFound | undefined {
  const removes = call.args.some((arg) =>
    call.name === 'zip'
      ? /^(?:-[a-zA-Z]*m[a-zA-Z]*|--move)$/.test(wordText(arg))
      : /^--remove-f|^--recursive-u|^-sdel$/.test(wordText(arg)),
  );
  if (!removes) return undefined;
  const directory = call.args.findIndex((arg) => /^(?:-C|--directory)$/.test(wordText(arg)));
  const inside = call.args[directory + 1]?.text;
  const cwd = directory < 0 || inside === undefined ? call.cwd : [inside];
  for (const at of call.args) {
    const place = /^-/.test(prefixOf(at)) ? undefined : findProtectedPlace(at, cwd, call.home);
    if (place !== undefined) return { at, reason: `it packs and deletes ${describePlace(place)}` };
  }
  return undefined;
}

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
    options.has('r', 'R', 'recursive') || /^(?:rimraf|trash|trash-put|del-cli)$/.test(call.name);
  const forced = options.given.find((option) => option.name === 'no-preserve-root');
  for (const at of options.operands) {
    const place = placeOf(call, at);
    if (place === undefined) continue;
    const emptied = (place.content && place.kind === 'system') || isListing(at);
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
      (/^(?:-(?:exec|ok)(?:dir)?|-[xX]|--exec(?:-batch)?)$/.test(wordText(arg)) &&
        (removes(call.args[index + 1]) || overwrites(call.args.slice(index + 1)))),
  );
  if (!deletes) return undefined;
  for (const at of call.name.startsWith('fd') ? fdFolders(call) : startingPoints(call)) {
    const place = placeOf(call, at);
    if (place === undefined) continue;
    const kept = mayBeEmptied.has(place.path) ? isSelective(call.args) : selectsByName(call.args);
    if (place.kind === 'root' || !kept) return { at, reason: `it deletes ${describePlace(place)}` };
  }
  return undefined;
}

function removes(program: Arg | undefined): boolean {
  return /^(?:.*\/)?(?:rm|unlink|shred|srm|truncate|mv)$/.test(wordText(program));
}

/** Returns true for `cp x {}`, `tee {}` and `dd of={}`, which write to each path that is found. */
function overwrites(words: readonly Arg[]): boolean {
  const end = words.findIndex(({ text }) => text === ';' || text === '+');
  const [program, ...args] = (end < 0 ? words : words.slice(0, end)).map(wordText);
  const name = program?.slice(program.lastIndexOf('/') + 1) ?? '';
  if (name === 'dd') return args.includes('of={}');
  return name === 'tee' ? args.includes('{}') : /^(?:cp|ln|install)$/.test(name) && args.at(-1) === '{}';
}

/** `fd` has a pattern before its directories, so a word before the program that it executes may be either. */
function fdFolders({ args, self }: ProgramCall): readonly Arg[] {
  const end = args.findIndex((arg) => /^(?:-[xX]|--exec(?:-batch)?)$/.test(wordText(arg)));
  const [, ...folders] = args.slice(0, end < 0 ? undefined : end).filter((arg) => !/^-/.test(prefixOf(arg)));
  return folders.length === 0 ? [knownArg('.', self)] : folders;
}

/** Returns the directories that `find` would search; `.` if none is named. */
export function startingPoints({ args, self }: Pick<ProgramCall, 'args' | 'self'>): readonly Arg[] {
  const start = args.findIndex((arg) => !/^-(?:[HLP]|O\d?|D)$/.test(wordText(arg)));
  const options = start < 0 ? [] : args.slice(start);
  const rest = wordText(options[0]) === '--' ? options.slice(1) : options;
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
  return args.some((arg, index) => selective.test(wordText(arg)) && !matchesAll(args, index));
}

/** Returns true for a test such as `-name '*'` that every file passes. */
function matchesAll(args: readonly Arg[], index: number): boolean {
  const value = args[index + 1]?.text;
  return (
    /^-i?(?:name|path|wholename|regex)$/.test(wordText(args[index])) &&
    value !== undefined &&
    !/[^*?.]/.test(value)
  );
}

const named = /^-(?:i?name|i?path|i?wholename|i?regex|empty|inum|samefile)$/;

/** Returns true if the tests select files by a name; a negated test, or one of several alternatives, selects the others. */
function selectsByName(args: readonly Arg[]): boolean {
  if (args.some((arg) => /^(?:-o|-or|,)$/.test(wordText(arg)))) return false;
  return args.some((arg, index) => {
    if (!named.test(wordText(arg)) || /^(?:!|-not)$/.test(wordText(args[index - 1]))) return false;
    const value = args[index + 1]?.text;
    return (
      wordText(arg) === '-empty' ||
      value === undefined ||
      /[A-Za-z0-9_]{2}/.test(value.replace(/\[[^\][]*\]/g, ''))
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
  const moved = call.args.some((arg) => /^--remove-s/.test(wordText(arg)))
    ? moveAway(call, options.operands.slice(0, -1))
    : undefined;
  if (moved !== undefined) return moved;
  const deletes = call.args.find((arg) => /^--del/.test(wordText(arg)));
  const target = options.operands.at(-1);
  const place = target && placeOf(call, onHost(target));
  return deletes && target && place
    ? { at: target, reason: `it deletes what is not in its source from ${describePlace(place)}` }
    : undefined;
}

/** The path in `host:/path`, which is the root directory of another machine if it is `/`. */
function onHost(target: Arg): Arg {
  const host = /^[^/]{1,255}::?(?=\/)/.exec(target.text ?? '')?.[0];
  return host === undefined ? target : withoutPrefix(target, host.length);
}

function moveAway(call: ProgramCall, sources: readonly Arg[]): DangerFound | undefined {
  const isLost = call.args.at(-1)?.text === '/dev/null';
  for (const at of sources) {
    const place = placeOf(call, at);
    // `mv * dir` is allowed in a home directory.
    if (place !== undefined && (isLost || !(place.content && place.kind === 'home')))
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
