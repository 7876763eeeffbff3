import { type Arg, knownArg, type Piece, patternOf, toArg, withProcess } from '../words/arg.ts';
import { escapeGlob, globMatches, globMatchesAnything } from '../words/glob.ts';
import { limits } from '../words/limits.ts';
import { normalisePath } from '../words/paths.ts';

/** A protected directory (`/`, a home, `/etc` and the like) that a word refers to. */
export interface ProtectedPlace {
  readonly kind: 'root' | 'home' | 'system';
  /** True if the word refers to the directory's contents, as `/etc/*` does, not to the directory itself. */
  readonly content: boolean;
  readonly path: string;
}

/** Returns the protected directory that a word refers to in one of the possible working directories. */
export function findProtectedPlace(
  arg: Arg,
  cwds: readonly string[] | undefined,
  home: string,
): ProtectedPlace | undefined {
  const pattern = patternOf(withProcess(arg));
  if (pattern === undefined)
    return (
      belowRoot(arg) ??
      afterEmpty(arg, home) ??
      listedPlace(arg, cwds, home) ??
      listedBelow(arg, cwds, home) ??
      derivedPlace(arg, home) ??
      aboveDirectory(arg) ??
      aboveTemporary(arg, home)
    );
  if (pattern === '') return undefined;
  for (const cwd of cwds ?? [undefined]) {
    const path = normalisePath(pattern, cwd === undefined ? undefined : escapeGlob(cwd));
    const found = path === undefined ? climbedPlace(pattern) : placeAt(path, home);
    if (found !== undefined) return found;
  }
  return undefined;
}

const essentialFiles =
  /^\/(?:etc\/(?:passwd|shadow|group|gshadow|sudoers|fstab|crypttab)|(?:usr\/)?bin\/(?:sh|bash|dash|busybox|env|login|sudo|su)|(?:usr\/)?lib(?:64)?\/(?:[\w-]+\/)?(?:ld-linux[\w.-]*|libc\.so\.6|ld-musl[\w.-]*)|(?:usr\/)?sbin\/init|boot\/(?:vmlinuz|initrd)[^/]*)$/;

/** Returns true for a file without which no user can log in or no program can start. */
export function isEssentialFile(arg: Pick<Arg, 'text' | 'pieces'>): boolean {
  const {
    text = '',
    pieces: [first],
  } = arg;
  // The kernel's name has a version, so a glob stands for it.
  if (arg.text === undefined && typeof first === 'string' && /^\/boot\/(?:vmlinuz|initrd)/.test(first))
    return true;
  return text.startsWith('/') && essentialFiles.test(normalisePath(text, undefined) ?? text);
}

/** `/$x` is the root directory if the variable is empty, and probably a top-level directory otherwise. */
function belowRoot({ pieces: [first, second, ...more] }: Arg): ProtectedPlace | undefined {
  const isExpansion =
    typeof second === 'object' &&
    second.hole === 'unknown' &&
    (/^[$`]/.test(second.text) || second.listed === '/');
  const ends = more.every((piece) =>
    typeof piece === 'string' ? piece === '/' : piece.text === '*' || isUnset(piece),
  );
  const isUser =
    isExpansion && /^(?:\$\{?(?:USER|LOGNAME)\}?|[$(`]+(?:whoami|id -un)[)`]+)$/.test(second.text);
  if (typeof first === 'string' && /^\/+(?:home|Users)\/+$/.test(first) && isUser && ends)
    return { kind: 'home', content: more.length > 1, path: `${first}${second.text}` };
  const rooted = typeof first === 'string' && /^\/+$/.test(first) && isExpansion && ends;
  return rooted ? { kind: 'root', content: true, path: '/' } : undefined;
}

/** `$PWD/../../..`, `$(pwd)/../../..` and the like lead to the root directory from most directories. */
function aboveDirectory({ pieces: [first, second] }: Arg): ProtectedPlace | undefined {
  const isDirectory =
    typeof first === 'object' &&
    /^(?:\$\{?(?:OLD)?PWD\}?|\$\((?:pwd|git rev-parse --show-toplevel)\)|`pwd`|~[-+])$/.test(first.text);
  return isDirectory && typeof second === 'string' && second.startsWith('/')
    ? climbedPlace(second.slice(1))
    : undefined;
}

/** `$x/` and `$x$y/` are the root directory if the variables of the script were never set. */
function afterEmpty({ pieces, pos, end }: Arg, home: string): ProtectedPlace | undefined {
  const at = pieces.findIndex((piece) => !isUnset(piece));
  const [slash, ...more] = at < 1 ? [] : pieces.slice(at);
  if (typeof slash !== 'string' || !/^\/+$/.test(slash)) return undefined;
  return more.every((piece) => isUnset(piece) || (typeof piece === 'string' && /^\/+$/.test(piece)))
    ? findProtectedPlace(knownArg(slash, { pos, end }), undefined, home)
    : undefined;
}

function isUnset(piece: Piece): boolean {
  return typeof piece === 'object' && piece.outside === true && /^\$\{?[a-z_]\w*\}?$/.test(piece.text);
}

/** `$TMPDIR/../..` and `$(mktemp -d)/../..` lead to the root directory. */
function aboveTemporary(
  { pieces: [first, second, ...more], pos, end }: Arg,
  home: string,
): ProtectedPlace | undefined {
  if (typeof first !== 'object' || typeof second !== 'string' || !second.startsWith('/..')) return undefined;
  const folder = /^\$\{?TMPDIR\}?$/.test(first.text)
    ? '/tmp'
    : /^[$(`]{1,2}mktemp -d\b/.test(first.text)
      ? '/tmp/x'
      : undefined;
  return folder && findProtectedPlace(toArg([folder + second, ...more], { pos, end }), undefined, home);
}

/** A word that `read`, `mapfile` or `getopts` made from text with a path in it. */
function derivedPlace(arg: Arg, home: string): ProtectedPlace | undefined {
  const [only, ...others] = arg.pieces;
  const isWhole = others.every((piece) =>
    typeof piece === 'string' ? /^\/+$/.test(piece) : piece.text === '*',
  );
  const hole = typeof only === 'object' && isWhole ? only : undefined;
  const from = hole === undefined ? '' : cutsFirst.test(hole.text) ? '/' : (hole.from ?? '');
  const words = from
    .slice(0, limits.textLength)
    .split(/[\s\0:;,="'{}]+/)
    .filter((word) => word.startsWith('/'));
  // Protected places have short paths; a script could contain thousands of others.
  const near = [...new Set(words)].filter((word) => nearRoot.test(word)).sort((a, b) => a.length - b.length);
  for (const word of near.slice(0, 48)) {
    const place = findProtectedPlace(knownArg(word, arg), undefined, home);
    if (place !== undefined) return place;
  }
  return undefined;
}

/** `$(pwd | cut -c1)` and similar: the first character of an absolute path. */
const cutsFirst =
  /^[$(`]{1,2}[^\0]{0,80}(?:\bpwd\b|\bPWD\b|\bHOME\b|~)[^\0]{0,80}(?:\b(?:cut|head) -[cb] ?1(?![\d,-])|\bcut -d ?\/ -f ?1\b|s\/\[)|%\.1s|^[$(`]{1,2}\s?(?:(?:cut|head) -[cb] ?1\b|expr\b)[^\0]{0,40}(?:PWD|HOME)/;

/** Top-level names, and paths in the folders that have protected ones. */
const nearRoot = /^\/+[^/]*\/*$|^\/+(?:usr|var|etc|boot|lib|private|home|Users|root|proc|\.)[^/]{0,40}\//;

/** Returns true for a word that may be any path of a listing, as in `find / | while read -r f`. */
export function isListing({ pieces: [only, ...others] }: Pick<Arg, 'pieces'>): boolean {
  return typeof only === 'object' && only.listed !== undefined && others.length === 0;
}

/** `$(ls)` refers to everything in the listed directory. */
function listedPlace(
  arg: Arg,
  cwds: readonly string[] | undefined,
  home: string,
): ProtectedPlace | undefined {
  const [first, second] = arg.pieces;
  const [only, ...others] = typeof first === 'string' && /^(?:\.\/)+$/.test(first) ? [second] : arg.pieces;
  const listed = typeof only === 'object' && others.length === 0 ? only.listed : undefined;
  return listed === undefined ? undefined : findProtectedPlace(knownArg(listed, arg), cwds, home);
}

/** `~/$f` after `ls ~` refers to everything in the listed directory. */
function listedBelow(
  { pieces: [first, second, ...others], pos, end }: Arg,
  cwds: readonly string[] | undefined,
  home: string,
): ProtectedPlace | undefined {
  if (typeof first !== 'string' || !first.endsWith('/') || typeof second !== 'object' || others.length > 0)
    return undefined;
  const folder = normalisePath(first, cwds?.[0]);
  const listed = second.listed && normalisePath(second.listed, cwds?.[0]);
  return listed && folder === listed
    ? findProtectedPlace(toArg([first, { hole: 'glob', text: '*' }], { pos, end }), cwds, home)
    : undefined;
}

const systemNames =
  'bin boot dev etc home lib lib32 lib64 libx32 media mnt opt proc root run sbin snap srv sys tmp usr var nix System Library Applications Users Volumes private cores Network'.split(
    ' ',
  );

const systemSubdirectories = [
  ...['bin', 'sbin', 'lib', 'lib32', 'lib64', 'libexec', 'share', 'include', 'local'].map(
    (name) => `usr/${name}`,
  ),
  ...['lib', 'log', 'cache', 'spool', 'run', 'mail', 'db'].map((name) => `var/${name}`),
  ...['bin', 'lib'].map((name) => `usr/local/${name}`),
  ...['x86_64', 'aarch64', 'i386', 'riscv64'].flatMap((machine) => [
    `usr/lib/${machine}-linux-gnu`,
    `lib/${machine}-linux-gnu`,
  ]),
  'usr/lib/systemd',
  'etc/ssh',
  'var/lib/dpkg',
  'var/lib/rpm',
  'etc/systemd',
  'etc/pam.d',
  'boot/efi',
  'boot/grub',
  'lib/modules',
  'lib/systemd',
  'private/etc',
  'private/var',
];

/** Directories whose contents may be deleted, though not the directories themselves. */
export const mayBeEmptied: ReadonlySet<string> = new Set([
  '/tmp',
  '/var/cache',
  '/var/log',
  '/var/tmp',
  '/mnt',
  '/media',
  '/run',
  '/var/run',
]);

function placeAt(path: string, home: string): ProtectedPlace | undefined {
  const parts = path.split('/').filter((part) => part !== '');
  const places: [ProtectedPlace['kind'], string][] = [
    ['root', '/'],
    ['home', home],
    ['home', '/root'],
    ['home', '/home/*'],
    ['home', '/Users/*'],
    ...[...systemNames, ...systemSubdirectories].map((name): [ProtectedPlace['kind'], string] => [
      'system',
      `/${name}`,
    ]),
  ];
  for (const [kind, place] of places) {
    const reach = reaches(
      parts,
      place.split('/').filter((part) => part !== ''),
    );
    const spared = reach === 'content' && mayBeEmptied.has(place);
    if (reach !== undefined && !spared)
      return { kind, content: reach === 'content', path: place === '/home/*' ? path : place };
  }
  return undefined;
}

function reaches(parts: readonly string[], place: readonly string[]): 'itself' | 'content' | undefined {
  const extra = parts.length - place.length;
  if (extra !== 0 && extra !== 1) return undefined;
  const matches = place.every((name, index) => {
    const part = parts[index] ?? '';
    return name === '*' ? true : globMatches(part, name);
  });
  if (!matches) return undefined;
  if (extra === 0) return 'itself';
  return globMatchesAnything(parts.at(-1) ?? '') ? 'content' : undefined;
}

/** With an unknown working directory: a relative path with three or more leading `..` counts as reaching the root. */
function climbedPlace(pattern: string): ProtectedPlace | undefined {
  const parts = pattern.split('/').filter((part) => part !== '' && part !== '.');
  const climbs = parts.findIndex((part) => part !== '..');
  const up = climbs < 0 ? parts.length : climbs;
  if (up < 3) return undefined;
  const rest = parts.slice(up);
  return placeAt(`/${rest.join('/')}`, '/root');
}
