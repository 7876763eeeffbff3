import { type Arg, knownArg, patternOf } from '../words/arg.ts';
import { escapeGlob, globMatches, globMatchesAnything } from '../words/glob.ts';
import { normalisePath } from '../words/paths.ts';

/** A place whose loss cannot be made good, and how a word reaches it. */
export interface Protected {
  readonly kind: 'root' | 'home' | 'system';
  /** True when not the place itself is named but everything in it. */
  readonly content: boolean;
  readonly path: string;
}

/** The protected place that a word names, in one of the directories where the command may run. */
export function protectedPlace(
  arg: Arg,
  cwds: readonly string[] | undefined,
  home: string,
): Protected | undefined {
  const pattern = patternOf(arg);
  if (pattern === undefined) return belowRoot(arg) ?? listedPlace(arg, cwds, home);
  if (pattern === '') return undefined;
  for (const cwd of cwds ?? [undefined]) {
    const path = normalisePath(pattern, cwd === undefined ? undefined : escapeGlob(cwd));
    const found = path === undefined ? climbedPlace(pattern) : placeAt(path, home);
    if (found !== undefined) return found;
  }
  return undefined;
}

/** `/$x`: the root itself when the variable is empty, and most likely one of its directories when it is not. */
function belowRoot({ pieces: [first, second, ...more] }: Arg): Protected | undefined {
  const written = typeof second === 'object' && second.hole === 'unknown' && /^[$`]/.test(second.text);
  const rooted = typeof first === 'string' && /^\/+$/.test(first) && written && more.length === 0;
  return rooted ? { kind: 'root', content: true, path: '/' } : undefined;
}

/** `$(ls)`: whatever is done to all that a directory holds. */
function listedPlace(arg: Arg, cwds: readonly string[] | undefined, home: string): Protected | undefined {
  const [only, ...others] = arg.pieces;
  const listed = typeof only === 'object' && others.length === 0 ? only.listed : undefined;
  return listed === undefined ? undefined : protectedPlace(knownArg(listed, arg), cwds, home);
}

const systemNames =
  'bin boot dev etc home lib lib32 lib64 libx32 media mnt opt proc root run sbin snap srv sys tmp usr var nix System Library Applications Users Volumes private cores Network'.split(
    ' ',
  );

const deeper = [
  ...['bin', 'sbin', 'lib', 'lib32', 'lib64', 'libexec', 'share', 'include', 'local'].map(
    (name) => `usr/${name}`,
  ),
  ...['lib', 'log', 'cache', 'spool', 'run', 'mail', 'db'].map((name) => `var/${name}`),
  ...['bin', 'lib'].map((name) => `usr/local/${name}`),
  'etc/ssh',
  'etc/systemd',
  'etc/pam.d',
  'boot/efi',
  'boot/grub',
  'lib/modules',
  'lib/systemd',
  'private/etc',
  'private/var',
];

/** Places whose content may go, though not they themselves. */
const emptied = new Set(['/tmp', '/var/cache', '/var/log', '/var/tmp', '/mnt', '/media', '/run', '/var/run']);

function placeAt(path: string, home: string): Protected | undefined {
  const parts = path.split('/').filter((part) => part !== '');
  const places: [Protected['kind'], string][] = [
    ['root', '/'],
    ['home', home],
    ['home', '/root'],
    ['home', '/home/*'],
    ['home', '/Users/*'],
    ...[...systemNames, ...deeper].map((name): [Protected['kind'], string] => ['system', `/${name}`]),
  ];
  for (const [kind, place] of places) {
    const reach = reaches(
      parts,
      place.split('/').filter((part) => part !== ''),
    );
    const spared = reach === 'content' && emptied.has(place);
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

/** A relative path that climbs so far that only the root can be meant, where the directory is not known. */
function climbedPlace(pattern: string): Protected | undefined {
  const parts = pattern.split('/').filter((part) => part !== '' && part !== '.');
  const climbs = parts.findIndex((part) => part !== '..');
  const up = climbs < 0 ? parts.length : climbs;
  if (up < 3) return undefined;
  const rest = parts.slice(up);
  return placeAt(`/${rest.join('/')}`, '/root');
}
