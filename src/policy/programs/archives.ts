import { type ParsedOptions, parseOptions } from '../options/parse-options.ts';
import type { ProgramCall } from '../options/program-call.ts';
import { type Arg, knownArg, prefixOf, toArg } from '../words/arg.ts';
import { unknownAmong, unknownOptions, writesBelow } from './option-effects.ts';
import type { Effect, ProgramEntry } from './program.ts';
import { splitWords } from './split-words.ts';
import { writtenTo } from './written-files.ts';

const tarOptions = {
  short: 'AcdrtuxBaC:f:F:g:GhiI:jJkL:lmMN:nOoPpRsSUvwWX:zZb:H:K:T:V:',
  long: `absolute-names acls after-date= anchored append atime-preserve[=] auto-compress backup[=] block-number blocking-factor=
    bzip2 catenate check-device checkpoint[=] checkpoint-action= clamp-mtime compare compress concatenate confirmation create
    delay-directory-restore delete dereference diff directory= exclude= exclude-backups exclude-caches exclude-caches-all
    exclude-caches-under exclude-from= exclude-ignore= exclude-ignore-recursive= exclude-tag= exclude-tag-all= exclude-tag-under=
    exclude-vcs exclude-vcs-ignores extract file= files-from= force-local format= full-time get group= group-map= gunzip gzip
    hard-dereference help hole-detection= ignore-case ignore-command-error ignore-failed-read ignore-zeros incremental index-file=
    info-script= interactive keep-directory-symlink keep-newer-files keep-old-files label= level= listed-incremental= list lzip lzma
    lzop mode= mtime= multi-volume new-volume-script= newer= newer-mtime= no-acls no-anchored no-auto-compress no-check-device
    no-delay-directory-restore no-ignore-case no-ignore-command-error no-null no-overwrite-dir no-quote-chars= no-recursion
    no-same-owner no-same-permissions no-seek no-selinux no-unquote no-verbatim-files-from no-wildcards no-wildcards-match-slash
    no-xattrs null numeric-owner occurrence[=] old-archive one-file-system one-top-level[=] overwrite overwrite-dir owner= owner-map=
    pax-option= posix portability preserve-order preserve-permissions quote-chars= quoting-style= read-full-records record-size=
    recursion recursive-unlink remove-files restrict rmt-command= rsh-command= same-order same-owner same-permissions seek selinux
    show-defaults show-omitted-dirs show-snapshot-field-ranges show-stored-names show-transformed-names skip-old-files sort= sparse
    sparse-version= starting-file= strip-components= suffix= tape-length= test-label to-command= to-stdout totals[=] touch transform=
    uncompress ungzip unlink-first unquote update usage use-compress-program= utc verbatim-files-from verbose[=] verify version
    volno-file= add-file= no-seek keep-directory-symlink zstd skip-old-files no-quote-chars= set-mtime-command= set-mtime-format= warning= wildcards wildcards-match-slash xattrs xattrs-exclude= xattrs-include= xform= xz zstd`.replace(
    /\s+/g,
    ' ',
  ),
};

/** Archivers such as `tar` and `zip`, and the programs that their options run. */
export const archivePrograms: readonly ProgramEntry[] = [
  {
    names: ['tar', 'gtar', 'bsdtar'],
    closed: ['bzip2', 'compress', 'gzip', 'lzip', 'lzma', 'lzop', 'xz', 'zstd'],
    effects: tarEffects,
    runs: [
      ['tar cf x.tar src --checkpoint=1 --checkpoint-action=exec=touch', 'touch'],
      ["tar cf x.tar --checkpoint-act 'exec=touch x' src", 'touch'],
      ['tar -I touch -cf x.tar src', 'touch'],
      ["tar --use-comp='touch x' -cf x.tar src", 'touch'],
      ['tar -cItouch -f x.tar src', 'touch'],
      ['tar xf x.tar --to-command=touch', 'touch'],
      ['tar xf x.tar --to-comm touch', 'touch'],
      ['tar cMf x.tar -F touch src', 'touch'],
      ['tar cf x.tar --new-vol=touch src', 'touch'],
      ['tar cfI x.tar touch src', 'touch'],
      'tar cf host:x.tar --rsh-command=touch src',
      'tar cf host:x.tar src',
      'tar xf x.tar --rmt=touch',
      'tar -I "$x" -cf a b',
      'tar cf x.tar --checkpoint-action="$x" src',
      'tar cf a b --checkpoint-action="$x"',
      'tar cf ~/.bashrc src',
      'tar -czf /dev/sda src',
      'tar xf a.tar -C ~/.ssh',
      'tar xf a.tar -C .git/hooks',
      'cd .git && tar xf ../a.tar',
      "tar xf a.tar --transform='s,^,.git/hooks/,'",
      "tar xf a.tar --transform='s/x/.envrc/'",
      'tar xf a.tar .husky/pre-commit',
      'tar xPf a.tar',
      'tar xf a.tar -C ~',
      "tar cf x.tar -T - <<< '--checkpoint-action=exec=touch'",
      'tar xf a.tar -C /',
      'tar tvf a.tar --index-file=.git/config',
      'tar -g .git/config -cf a.tar src',
      'tar cMf a.tar --volno-file=.git/hooks/x src',
    ],
    harmless: [
      'tar czf out.tgz src',
      'tar -xzf a.tgz -C /tmp --strip-components=1',
      'tar tf a.tar',
      "tar cf x.tar --exclude='*.o' --checkpoint=10 --checkpoint-action=dot src",
      'tar --create --file=x.tar src',
      'tar xvf "$file"',
      ['tar -I zstd -xf a.tar.zst', 'zstd'],
      ["tar --use-compress-program='zstd -T0' -cf a b", 'zstd'],
      'tar cf - src',
      'tar tf /dev/sda',
      'tar -g level.snar -cf a.tar src',
    ],
  },
  {
    names: ['zip'],
    closed: ['unzip'],
    options: {
      short: 'AcdDeEfFgGhijJklLmMoOpqrRsSTtuUvVwWxXyz0123456789b:n:P:t:',
      long: `unzip-command= test encrypt password= recurse-paths temp-path= output-file= out= exclude include suffixes= move copy before-date=
        ascii adjust-sfx archive-clear archive-set binary entry-comments preserve-case delete display-bytes display-counts display-dots
        display-globaldots display-usize display-volume dot-size= no-dir-entries difference-archive longnames freshen fix fixfix fifo
        filesync grow help more-help no-image ignore-case junk-paths absolute-path junk-sfx DOS-names to-crlf log-append logfile-path=
        log-info from-crlf license must-match no-wild latest-time paths quiet recurse-patterns regex split-size= split-bell split-pause
        split-verbose show-command show-files show-options show-unicode show-just-unicode system-hidden from-date= update copy-entries
        unicode= verbose wild-stop-dirs no-extra symlinks archive-comment compression-method= names-stdin version`.replace(
        /\s+/g,
        ' ',
      ),
    },
    effects: (call) => [
      ...unknownAmong(
        call,
        call.options.unrecognised.filter((word) => prefixOf(word).startsWith('--')),
      ),
      ...zipEffects(call),
    ],
    runs: [
      'zip x.zip a -lf .git/config',
      'zip x.zip a --logfile-path=.git/config',
      'zip x.zip a --some-new-option',
      ["zip x.zip a -T -TT 'touch x'", 'touch'],
      ["zip x.zip a -T --unzip-command='touch x'", 'touch'],
      ["zip x.zip a -T --unzip-c 'touch x'", 'touch'],
      'zip ~/.bashrc a',
      'zip -r .git/hooks/x a',
      'zip x.zip a --out /etc/x',
    ],
    harmless: ['zip -r x.zip src', 'zip -T x.zip', 'zip -9 -q x.zip a b'],
  },
  {
    names: ['cpio', 'pax', 'star'],
    closed: [],
    options: {
      short: 'oiptdumvB0aAcC:D:E:F:H:I:M:O:R:rsSf:b:x:w:',
      long: 'rsh-command= rmt-command= file= force-local create extract list pass-through make-directories format= null unconditional preserve-modification-time quiet verbose directory= to-stdout use-compress-program= compress-program=',
    },
    effects: ({ options, args, name }) => [
      ...options
        .values('rsh-command', 'rmt-command', 'use-compress-program', 'compress-program')
        .map((text): Effect => ({ does: 'shell', text })),
      ...args
        .filter((arg) => /^-?compress-program=/.test(arg.text ?? '') && name === 'star')
        .map(
          (arg): Effect => ({ does: 'shell', text: knownArg((arg.text ?? '').replace(/^[^=]*=/, ''), arg) }),
        ),
      ...options.values('F', 'file', 'I', 'O').flatMap((file) => remote(file, options.has('force-local'))),
      ...[...options.values('O'), ...(options.has('o', 'create') ? options.values('F', 'file') : [])].map(
        written,
      ),
      ...(name === 'pax' ? paxFiles(args) : copiedBelow(options)),
    ],
    runs: [
      'cpio -pd .git/hooks < list',
      'cpio -id -D .git/hooks < a.cpio',
      'pax -rw src .git/hooks',
      'pax -w -f .git/config src',
      ["cpio -o --rsh-command='touch x' -F archive", 'touch'],
      'cpio -i -F host:archive',
      'cpio -o -O /etc/x',
      'cpio -oF .envrc',
      ['star -c compress-program=touch f=x a', 'touch'],
    ],
    harmless: [
      'cpio -idmv',
      'cpio -ov',
      'cpio -pdm ../backup',
      'pax -r -f a.tar',
      'pax -w -f a.tar src',
      'cpio -i -F a.cpio',
    ],
  },
  {
    names: ['unzip', 'zipinfo', '7z', '7za', '7zz', 'unrar', 'unar'],
    closed: ['/usr/lib/7zip', '/usr/lib/p7zip'],
    options: { short: 'd:o:', long: 'output-directory=' },
    effects: ({ args, name, self }) => [
      ...(unpacksHere(name, args)
        ? [written(knownArg('file', self)), ...args.filter(isHidden).map(written)]
        : []),
      ...(/^7z/.test(name) && /^(?:a|d|rn|u)$/.test(args[0]?.text ?? '')
        ? args
            .slice(1)
            .filter((arg) => !prefixOf(arg).startsWith('-'))
            .slice(0, 1)
            .map(written)
        : []),
      ...args.flatMap((arg, index): Effect[] => {
        if (/^-[a-zA-Z]*:/.test(prefixOf(arg)) && name !== '7z')
          return [
            {
              does: 'refuse',
              at: arg,
              rule: 'writes',
              reason: `${name} -: writes outside the folder it extracts to`,
            },
          ];
        const attached = name === 'unzip' ? /^-d.+/ : /^-o.+/;
        const folder = args[index - 1]?.text === '-d' || attached.test(prefixOf(arg)) ? arg : undefined;
        const text = folder?.text?.replace(/^-[do]/, '');
        return folder === undefined || text === undefined ? [] : writesBelow(knownArg(text, folder));
      }),
    ],
    runs: [
      'unzip a.zip -d /etc',
      'unzip -: a.zip',
      'unzip -d.git/hooks a.zip',
      'unzip a.zip -d ~/.ssh',
      'unzip -o a.zip -d .git/hooks/',
      '7z x a.7z -o/usr/bin',
      '7z a .git/config x',
      'cd .git && unzip ../a.zip',
      'unzip a.zip .git/config',
    ],
    harmless: ['unzip a.zip', 'unzip -qo a.zip -d out', 'unzip -l a.zip', '7z x a.7z -oout', '7z a x.7z src'],
  },
];

/** Returns true if the files of an archive are written to the working directory, which may be `.git`. */
function unpacksHere(name: string, args: readonly Arg[]): boolean {
  const words = args.map(({ text }) => text ?? '');
  if (name === 'zipinfo' || words.length === 0) return false;
  if (name === 'unzip') return !words.some((word) => /^-[a-zA-Z]*[dlptvzZ]/.test(word));
  return /^[ex]$/.test(words[0] ?? '') && !words.some((word) => /^-(?:o|so)/.test(word));
}

/** `cpio -p` copies files to its operand, and `-i` extracts them below `-D`. */
function copiedBelow(options: ParsedOptions): Effect[] {
  const folders = options.has('p', 'pass-through') ? options.operands : options.values('D', 'directory');
  return folders.flatMap(writesBelow);
}

/** `pax -w -f ARCHIVE` writes an archive, and `pax -rw … FOLDER` copies to its last operand. */
function paxFiles(args: readonly Arg[]): Effect[] {
  const letters = args.map(({ text }) => /^-([a-zA-Z]+)$/.exec(text ?? '')?.[1] ?? '');
  const [reads, writes] = ['r', 'w'].map((letter) => letters.some((word) => word.includes(letter)));
  const last = args.at(-1);
  if (reads && writes) return last === undefined ? [] : writesBelow(last);
  const archive = args[letters.findIndex((word) => word.endsWith('f')) + 1];
  return writes && archive !== undefined && letters.some((word) => word.endsWith('f'))
    ? [{ does: 'write', path: archive }]
    : [];
}

function zipEffects({ args, options }: ProgramCall): Effect[] {
  return [
    ...args.flatMap((arg, index): Effect[] => {
      const [, name] = /^-[a-zA-Z]*?(TT|lf)/.exec(prefixOf(arg)) ?? [];
      if (name === undefined) return [];
      const attached = prefixOf(arg).replace(/^-[a-zA-Z]*?(?:TT|lf)/, '');
      const value = attached === '' ? args[index + 1] : knownArg(attached, arg);
      if (value === undefined) return [];
      return [name === 'TT' ? { does: 'shell', text: value } : written(value)];
    }),
    ...options.values('unzip-command').map((text): Effect => ({ does: 'shell', text })),
    ...options.values('logfile-path').map(written),
    ...[...options.operands.slice(0, 1), ...options.values('O', 'output-file', 'out')]
      .filter(({ text }) => text !== '-')
      .flatMap((path): Effect[] => [written(path), written(toArg([...path.pieces, '.zip'], path))]),
  ];
}

function tarEffects(call: ProgramCall): Effect[] {
  const options = parseOptions(oldStyle(call.args), tarOptions);
  const shells = options.values(
    'to-command',
    'F',
    'info-script',
    'new-volume-script',
    'rsh-command',
    'rmt-command',
    'set-mtime-command',
  );
  return [
    ...unknownOptions({ ...call, options }),
    ...options.values('checkpoint-action').flatMap(checkpoint),
    ...options
      .values('I', 'use-compress-program')
      .map((program): Effect => ({ does: 'start', argv: splitWords(program), stdin: 'none' })),
    ...shells.map((text): Effect => ({ does: 'shell', text })),
    ...options.values('f', 'file').flatMap((file) => remote(file, options.has('force-local'))),
    ...(options.has(...writing) ? options.values('f', 'file').map(written) : []),
    ...options.values('g', 'listed-incremental', 'index-file', 'volno-file').map(written),
    ...(options.has(...extracting) && !options.has('O', 'to-stdout') ? extracted(call, options) : []),
    ...(options.has('verbatim-files-from') ? [] : listedOptions(call, options)),
  ];
}

/** Lines of `-T list` that begin with a dash are options. */
function listedOptions(call: ProgramCall, options: ParsedOptions): Effect[] {
  return options.values('T', 'files-from').flatMap((at): Effect[] => {
    const isStdin = at.text === '-' || at.text === '/dev/stdin';
    const list = isStdin ? (call.stdin === 'none' ? undefined : call.stdin) : writtenTo(call, at);
    const [piece] = at.pieces;
    const printed = typeof piece === 'object' && piece.hole === 'process' ? piece : undefined;
    const isUnknown = printed !== undefined && printed.output === undefined && printed.operand !== true;
    return isUnknown || /^-/m.test(list?.text ?? printed?.output ?? '')
      ? [{ does: 'refuse', at, reason: 'tar would read options from a list of files' }]
      : [];
  });
}

const extracting = ['x', 'extract', 'get'];

/** Files that an archive contains are written below `-C`; their own names may begin with anything under `-P`. */
function extracted(call: ProgramCall, options: ParsedOptions): Effect[] {
  const folders = options.values('C', 'directory', 'one-top-level');
  const renames = options
    .values('transform', 'xform')
    .filter(
      ({ text }) =>
        text === undefined || /\.(?:git|ssh|bash|config|profile)|~|,\/|s.\^.\/|[^$][|,/#]\.[a-z]/.test(text),
    );
  const absolute = options.given.filter(({ name }) => name === 'P' || name === 'absolute-names');
  return [
    ...(folders.length === 0 ? [written(knownArg('file', call.self))] : folders.flatMap(writesBelow)),
    ...options.operands.filter(isHidden).map(written),
    ...[...renames, ...absolute.map(({ at }) => at)].map(
      (at): Effect => ({
        does: 'refuse',
        at,
        rule: 'writes',
        reason: 'tar would write outside the folder it extracts to',
      }),
    ),
  ];
}

/** Returns true for a member such as `.git/config`, which `tar xf a.tar .git/config` writes. */
function isHidden(member: Arg): boolean {
  return /(?:^|\/)\.\w/.test(prefixOf(member));
}

const writing = ['c', 'r', 'u', 'A', 'create', 'append', 'update', 'catenate', 'concatenate', 'delete'];

function written(path: Arg): Effect {
  return { does: 'write', path };
}

/** Reads `tar cfI x.tar prog`: option letters without a dash, whose values follow in order. */
function oldStyle(args: readonly Arg[]): readonly Arg[] {
  const [first, ...rest] = args;
  if (first?.text === undefined || first.text === '' || first.text.startsWith('-')) return args;
  const queue = [...rest];
  const words = first.text.split('').flatMap((letter) => {
    const takes = tarOptions.short.includes(`${letter}:`);
    const value = takes ? queue.shift() : undefined;
    return [knownArg(`-${letter}`, first), ...(value === undefined ? [] : [value])];
  });
  return [...words, ...queue];
}

function checkpoint(action: Arg): Effect[] {
  const text = action.text;
  if (text === undefined)
    return [{ does: 'unknown', at: action, reason: 'what tar would do at a checkpoint cannot be known' }];
  return text.startsWith('exec=')
    ? [{ does: 'shell', text: knownArg(text.slice('exec='.length), action) }]
    : [];
}

/** `host:archive.tar`, with a colon before any slash, makes `tar` start a remote shell. */
function remote(file: Arg, local: boolean): Effect[] {
  const reached = !local && /^[^/]+:/.test(prefixOf(file));
  return reached
    ? [
        {
          does: 'refuse',
          at: file,
          reason: 'tar would start a remote shell for an archive on another machine',
        },
      ]
    : [];
}
