import { protectedNames } from '../../contract/protected-names.ts';
import { fileKey } from '../programs/written-files.ts';
import { type Arg, type Piece, patternOf, toArg, withProcess } from '../words/arg.ts';
import { describeDevice } from '../words/devices.ts';
import { globMatches } from '../words/glob.ts';
import { limits } from '../words/limits.ts';
import { isMisleadingPath } from '../words/misleading-name.ts';
import { anyOutput, type Output } from '../words/output.ts';
import { baseName, normalisePath } from '../words/paths.ts';
import type { WalkScope } from './scope.ts';
import type { Invocation } from './survey.ts';
import { relativePath } from './trails.ts';
import { noteUnknownWrite } from './unknown-writes.ts';
import type { Walk } from './walk.ts';

/** Judges a file that would be written: devices such as /dev/sda are danger; a list refuses files such as ~/.bashrc. */
export function judgeWrite(walk: Walk, target: Arg, program: string | undefined, scope: WalkScope): void {
  const span = { pos: target.pos, end: target.end };
  noteWrite(walk, target, scope);
  if (!isOwnOutput(target.text)) {
    const reason = `writing ${target.text ?? 'a file'}`;
    walk.problems.push({ scope: 'write', rule: 'file_write', reason, program, ...span });
  }
  if (target.text === undefined || scope.shell.isAnywhere) noteUnknownWrite(walk, target, program, scope);
  if (isMisleadingPath(target)) refuseName(walk, target, program);
  if (target.pieces.some(mentionsOwn)) refuseOwn(walk, target, program);
  if (target.pieces.some(mentionsProtected)) refuseProtected(walk, target, undefined, program);
  else if (target.text === undefined) judgeEnding(walk, target, program);
  for (const path of [...pathsOf(walk, target, scope), ...printedDevices(target)]) {
    if (walk.ownFiles.include(path)) refuseOwn(walk, target, program);
    const device = describeDevice(path);
    if (device !== undefined) {
      const reason = `it writes to ${path}, ${device}`;
      walk.problems.push({ scope: 'danger', rule: 'device_write', reason, program, ...span });
    } else if (/^\/dev\/(?:tcp|udp)\//.test(path)) {
      const reason = `opening the network connection ${path} is not allowed under an allow list`;
      walk.problems.push({ scope: 'finite', rule: 'network', reason, program, ...span });
    } else if (/^\/dev\/fd\/(?!\d$)/.test(path)) {
      const reason = `writing ${path} is not allowed under an allow list, because the shell uses some descriptors itself`;
      walk.problems.push({ scope: 'finite', rule: 'descriptor', reason, program, ...span });
    } else if (
      choosesCode(path, walk.home) ||
      mayMatch(path, walk, (one) => choosesCode(one, walk.home)) ||
      (inRepository.test(path) && walk.invocations.some(makesBare))
    )
      refuseProtected(walk, target, path, program);
  }
}

/** The devices that a program lists, in `dd of=$(lsblk …)` and `> /dev/$(lsblk …)`. */
function printedDevices({ pieces }: Arg): readonly string[] {
  const hole = pieces.at(-1);
  const prefix = pieces.length > 1 && typeof pieces[0] === 'string' ? pieces[0] : '';
  if (typeof hole !== 'object' || hole.from === undefined || pieces.length > 2) return [];
  const words = hole.from.slice(0, limits.textLength).split(/\s+/);
  return words.map((word) => prefix + word).filter((path) => describeDevice(path) !== undefined);
}

/** Refuses a path that a program may write, if it is protected; nothing else is known about it. */
export function judgeProtected(walk: Walk, target: Arg, program: string, scope: WalkScope): void {
  for (const path of pathsOf(walk, target, scope))
    if (choosesCode(path, walk.home)) refuseProtected(walk, target, path, program);
}

/** Refuses an operand that names a file which is loaded as code or settings: by git, editors, or the user's shells. */
export function judgeLoaded(walk: Walk, target: Arg, program: string, scope: WalkScope): void {
  if (target.pieces.some(mentionsProtected)) refuseProtected(walk, target, undefined, program);
  else if (target.text === undefined) judgeEnding(walk, target, program);
  for (const path of pathsOf(walk, target, scope))
    if (isLoaded(path, walk.home) || mayMatch(path, walk, (one) => isLoaded(one, walk.home)))
      refuseProtected(walk, target, path, program);
}

function refuseName(walk: Walk, { pos, end }: Arg, program: string | undefined): void {
  const reason =
    'writing a file with a newline or a word that begins with - in its name is not allowed under an allow list, because other programs would misread the name';
  walk.problems.push({ scope: 'finite', rule: 'file_name', reason, program, pos, end });
}

/** Judges a path whose beginning is unknown, such as `$dir/.git/config`. */
function judgeEnding(walk: Walk, target: Arg, program: string | undefined): void {
  const path = target.pieces.find(
    (piece): piece is string => typeof piece === 'string' && (isOfGit(piece) || isProtected(piece)),
  );
  if (path !== undefined) refuseProtected(walk, target, path, program);
}

function refuseProtected(
  walk: Walk,
  { pos, end }: Arg,
  path: string | undefined,
  program: string | undefined,
): void {
  const protectedPath = path === undefined ? undefined : pathInProject(path);
  const reason = `writing ${path ?? 'that file'} is not allowed under an allow list, because programs load code or settings from it`;
  const hint =
    protectedPath &&
    `The user can allow it with the setting unprotected (NACRE_UNPROTECTED=${protectedPath}).`;
  walk.problems.push({
    scope: 'finite',
    rule: 'protected_file',
    reason,
    hint,
    program,
    protectedPath,
    pos,
    end,
  });
}

/** The end of a path from `.git` or a protected name on; undefined for files of the home directory or the system. */
function pathInProject(path: string): string | undefined {
  const found = /(?:^|\/)(\.git(?:\/.*)?)$/is.exec(path)?.[1];
  const at = protectedName.exec(path);
  return found ?? (at === null ? undefined : path.slice(at.index).replace(/^\//, ''));
}

/** Returns true for an unknown name that is made from a protected one, as `$(git rev-parse --git-path config)` is. */
function mentionsProtected(piece: Piece): boolean {
  if (typeof piece !== 'object') return false;
  // An extended glob such as `@(.git)` is compared here; other patterns are compared with the protected names by `mayMatch`.
  if (piece.hole === 'glob') return /[(|](?:\.|\[)/.test(piece.from ?? '');
  return /--(?:absolute-)?git-(?:path|dir|common-dir)/.test(piece.text) || isProtectedText(piece.text);
}

function isProtectedText(text: string): boolean {
  return text.split(/[\s$(){}'"`]+/).some((word) => isOfGit(word) || isProtected(word));
}

/** Settings and hooks of a repository without a working tree, whose folder may have any name. */
const inRepository = /\/(?:config|config\.worktree|commondir|hooks\/[^/]+|info\/attributes)$/;

function makesBare({ name, args }: Invocation): boolean {
  return (
    baseName(name) === 'git' && args.some(({ text = '' }) => /^--(?:bare|mirror|separate-git-dir)/.test(text))
  );
}

/** Records that a file is written, with unknown contents until `recordFile` reports them. */
function noteWrite(walk: Walk, { text }: Arg, { shell, loops }: WalkScope): void {
  if (text === undefined || text === '' || isOwnOutput(text)) return;
  const key = fileKey(text, shell.cwd);
  if (walk.files.has(key)) walk.writtenTwice.add(key);
  walk.files.set(key, anyOutput);
  if (walk.hasBackground || loops > 0) walk.writtenLater.add(key);
}

/** Records the contents of a file for programs that read it later in the command; several writes make them unknown. */
export function recordFile(
  walk: Walk,
  { text }: Arg,
  output: Output,
  { shell, background }: WalkScope,
): void {
  if (text === undefined || text === '' || isOwnOutput(text)) return;
  const key = fileKey(text, shell.cwd);
  walk.files.set(key, background || walk.writtenTwice.has(key) ? anyOutput : output);
}

/** Returns true for /dev/null and paths that refer to the command's own output. */
function isOwnOutput(path: string | undefined): boolean {
  return path !== undefined && /^\/dev\/(?:null|stdout|stderr|fd\/\d)$/.test(path);
}

/** Returns true for an unknown name that is made from one of nacre's own, as `$(dirname ~/.config/nacre/x)` is. */
export function mentionsOwn(piece: Piece): boolean {
  return typeof piece === 'object' && ownPath.test(piece.text);
}

const ownPath = /\.config\/nacre|\/state\/nacre/;

/** Reports a change of nacre's own files, which no list allows. */
export function refuseOwn(walk: Walk, { text, pos, end }: Arg, program: string | undefined): void {
  const reason = `changing ${text ?? "nacre's own files"} is not allowed under any list, because nacre reads its rules or keeps its records there`;
  const hint = 'Ask the user to change the settings, for example with nacre allow.';
  walk.problems.push({ scope: 'always', rule: 'own_files', reason, hint, program, pos, end });
}

/** The paths that a word may refer to; a glob stays a pattern, and an unknown part ends the path. */
export function pathsOf({ links }: Pick<Walk, 'links'>, word: Arg, scope: WalkScope): string[] {
  const target = withProcess(word);
  const path = target.text ?? patternOf(target) ?? knownPrefix(target);
  if (path === '') return [];
  const places = placesOf(path, scope);
  return links.size === 0 ? places : places.flatMap((place) => [place, ...throughLinks(place, links)]);
}

/** Follows the links that the command has made. */
function throughLinks(path: string, links: Walk['links']): string[] {
  const found: string[] = [];
  for (const [name, to] of links)
    if (path === name || path.startsWith(`${name}/`))
      found.push(`${to === '/' ? '' : to}${path.slice(name.length)}`);
  return found;
}

/** The text before the first unknown part, with globs as patterns. */
function knownPrefix({ pieces, pos, end }: Arg): string {
  const at = pieces.findIndex((piece) => typeof piece === 'object' && piece.hole !== 'glob');
  return patternOf(toArg(pieces.slice(0, at), { pos, end })) ?? '';
}

function placesOf(path: string, scope: WalkScope): string[] {
  const { cwd, trails } = scope.shell;
  // With an unknown directory, match the relative path itself, for example `.git/config`.
  const places =
    cwd === undefined && !path.startsWith('/')
      ? trails.map((trail) => relativePath(trail === '' ? path : `${trail}/${path}`))
      : (cwd ?? [undefined]).map((place) => normalisePath(path, place) ?? path);
  return [...new Set(places)];
}

const homeFiles =
  /^\.(?:bashrc|bash_profile|bash_login|bash_logout|bash_aliases|profile|zshrc|zshenv|zprofile|zlogin|zlogout|kshrc|cshrc|tcshrc|login|inputrc|gitconfig|gitignore_global|npmrc|yarnrc|yarnrc\.yml|vimrc|gvimrc|viminfo|exrc|nanorc|emacs|netrc|pythonrc|perldb|gdbinit|lldbinit|tmux\.conf|screenrc|wgetrc|curlrc|psqlrc|sqliterc|my\.cnf|lesskey|lessfilter|pam_environment|xinitrc|xsession|xsessionrc|xprofile|forward|condarc|pypirc|gemrc|irbrc|Rprofile|octaverc|mailcap|pgpass)$/;

/** Folders in a home whose files choose code. */
const homeFolders =
  /^(?:\.(?:ssh|gnupg|vim|emacs\.d|aws|kube|docker|gem|m2|gradle|ansible|terraform\.d|claude|cursor|codex|vscode|password-store|profile\.d)|\.config\/(?:git|fish|systemd|autostart|nvim|environment\.d|pip|helix|gh|tmux|zsh|bash|fontconfig|nix|containers|lazygit|alacritty|kitty|starship|direnv|mise|cargo|pypoetry|uv|Code)|\.local\/(?:bin|share\/(?:applications|systemd|dbus-1|nvim|bash-completion))|\.cargo\/(?:bin|config)|\.pyenv|\.nvm|Library\/LaunchAgents|\.rbenv|\.volta|bin)(?:\/|$)/;

/** Returns true for files that shells, git or the system load code or settings from. */
export function choosesCode(path: string, home: string): boolean {
  const inHome = homePath(path, home);
  if (inHome !== undefined && (homeFiles.test(inHome) || homeFolders.test(inHome))) return true;
  if (isOfGit(path) || isProtected(path) || /(?:^|\/)\.?venv\/bin\//.test(path)) return true;
  if (/^\/proc\/(?:self|thread-self)\/fd\/\d$/.test(path)) return false;
  return /^\/(?:etc|bin|sbin|lib|lib64|boot|proc|sys|usr\/(?:bin|sbin|lib|lib64|libexec|local\/s?bin|share)|var\/spool\/cron)(?:\/|$)/.test(
    path,
  );
}

/** Like `choosesCode`, but false for folders of the system and for keys, which programs often read. */
function isLoaded(path: string, home: string): boolean {
  const inHome = homePath(path, home);
  if (isOfGit(path) || isProtected(path)) return true;
  return inHome !== undefined && (homeFiles.test(inHome) || /^\.ssh\/(?:authorized_keys|rc)/.test(inHome));
}

function homePath(path: string, home: string): string | undefined {
  return path.startsWith(`${home}/`)
    ? path.slice(home.length + 1)
    : /^\/(?:home\/[^/]+|root)\/(.*)$/.exec(path)?.[1];
}

/** Returns true for a pattern that may match a refused file, as `.gi[t]/config` does. */
function mayMatch(pattern: string, { matchesHidden }: Walk, isRefused: (path: string) => boolean): boolean {
  if (!/[*?[]/.test(pattern)) return false;
  // A pattern of visible names, as `*.txt`, does not match hidden ones.
  const parts = pattern.split('/');
  const isHidden = (part: string): boolean => matchesHidden || /^(?:\.|\[)/.test(part);
  const choices = parts.map((part) => {
    if (!/[*?[]/.test(part)) return [part];
    const names = isHidden(part) ? hiddenNames : [];
    const glob = matchesHidden ? part.toLowerCase() : part;
    return [...names.filter((name) => globMatches(glob, name)), part];
  });
  if (choices.reduce((count, names) => count * names.length, 1) > limits.combinations) return true;
  const paths = choices.reduce<string[]>(
    (found, names) => found.flatMap((path) => names.map((name) => (path === '' ? name : `${path}/${name}`))),
    [''],
  );
  return paths.some((path) => path !== pattern && isRefused(pattern.startsWith('/') ? `/${path}` : path));
}

const hiddenNames =
  `.git .bashrc .bash_profile .profile .zshrc .ssh .config .vim .vimrc .npmrc .gitconfig .local ${protectedNames.filter((name) => name.startsWith('.') && !name.includes('/')).join(' ')}`.split(
    ' ',
  );

/** Returns true for files that editors, agents or shells load when the user opens the folder, outside of any worktree there. */
function isProtected(path: string): boolean {
  const found = protectedName.exec(path);
  return found !== null && !/\/worktrees\//.test(path);
}

const protectedName = new RegExp(
  `(?:^|/)(?:${protectedNames.map((name) => name.replaceAll('.', '\\.')).join('|')})(?:/|$)`,
  'i',
);

/** Files in `.git` that people write by hand and that contain data only. */
const gitData = /^\/(?:info\/exclude|description|COMMIT_EDITMSG|MERGE_MSG|SQUASH_MSG|TAG_EDITMSG)$/;

/**
 * Returns true for `.git` itself, which may be a link to other settings, and for the files in it: settings, hooks, attributes
 * and the list of commands that `git rebase --continue` runs.
 */
function isOfGit(path: string): boolean {
  const [, inside] = /(?:^|\/)\.git(\/.*)?$/is.exec(path) ?? [path, undefined];
  const found = /(?:^|\/)\.git(?:\/|$)/i.test(path);
  return found && !gitData.test(inside ?? '');
}
