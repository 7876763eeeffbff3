import { fileKey } from '../programs/written-files.ts';
import { type Arg, prefixOf } from '../words/arg.ts';
import { describeDevice } from '../words/devices.ts';
import { anyOutput, type Output } from '../words/output.ts';
import { normalisePath } from '../words/paths.ts';
import type { WalkScope } from './scope.ts';
import type { Walk } from './walk.ts';

/** Judges a file that would be written: devices such as /dev/sda are danger; a list refuses files such as ~/.bashrc. */
export function judgeWrite(walk: Walk, target: Arg, program: string | undefined, scope: WalkScope): void {
  const span = { pos: target.pos, end: target.end };
  noteWrite(walk, target, scope);
  if (!isOwnOutput(target.text)) {
    const reason = `writing ${target.text ?? 'a file'}`;
    walk.problems.push({ scope: 'write', rule: 'file_write', reason, program, ...span });
  }
  for (const path of pathsOf(target, scope)) {
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
    } else if (choosesCode(path, walk.home)) {
      const reason = `writing ${path} is not allowed under an allow list, because programs load code or settings from it`;
      walk.problems.push({ scope: 'finite', rule: 'protected_file', reason, program, ...span });
    }
  }
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

function pathsOf(target: Arg, scope: WalkScope): string[] {
  const path = target.text ?? prefixOf(target);
  if (path === '') return [];
  const { cwd, trails } = scope.shell;
  // With an unknown directory, match the relative path itself, for example `.git/config`.
  const places =
    cwd === undefined && !path.startsWith('/')
      ? trails.map((trail) => relativePath(trail === '' ? path : `${trail}/${path}`))
      : (cwd ?? [undefined]).map((place) => normalisePath(path, place) ?? path);
  return [...new Set(places)];
}

/** Resolves `.` and `..` in a relative path as far as possible. */
function relativePath(path: string): string {
  const parts: string[] = [];
  for (const part of path.split('/')) {
    if (part === '..' && parts.length > 0 && parts.at(-1) !== '..') parts.pop();
    else if (part !== '' && part !== '.') parts.push(part);
  }
  return parts.join('/');
}

const homeFiles =
  /^\.(?:bashrc|bash_profile|bash_login|bash_logout|bash_aliases|profile|zshrc|zshenv|zprofile|zlogin|zlogout|kshrc|cshrc|tcshrc|login|inputrc|gitconfig|gitignore_global|npmrc|yarnrc|yarnrc\.yml|vimrc|gvimrc|viminfo|exrc|nanorc|emacs|netrc|pythonrc|perldb|gdbinit|lldbinit|tmux\.conf|screenrc|wgetrc|curlrc|psqlrc|sqliterc|my\.cnf|lesskey|lessfilter|pam_environment|xinitrc|xsession|xsessionrc|xprofile|forward|condarc|pypirc|gemrc|irbrc|Rprofile|octaverc|mailcap|pgpass)$/;

/** Folders in a home whose files choose code. */
const homeFolders =
  /^(?:\.(?:ssh|gnupg|vim|emacs\.d|aws|kube|docker|gem|m2|gradle|ansible|terraform\.d|claude|cursor|codex|vscode|password-store|profile\.d)|\.config\/(?:git|fish|systemd|autostart|nvim|environment\.d|pip|helix|gh|tmux|zsh|bash|fontconfig|nix|containers|lazygit|alacritty|kitty|starship|direnv|mise|cargo|pypoetry|uv|Code)|\.local\/(?:bin|share\/(?:applications|systemd|dbus-1|nvim|bash-completion))|\.cargo\/(?:bin|config)|\.pyenv|\.nvm|\.rbenv|\.volta|bin)(?:\/|$)/;

/** Returns true for files that shells, git or the system load code or settings from. */
export function choosesCode(path: string, home: string): boolean {
  const inHome = path.startsWith(`${home}/`)
    ? path.slice(home.length + 1)
    : /^\/(?:home\/[^/]+|root)\/(.*)$/.exec(path)?.[1];
  if (inHome !== undefined && (homeFiles.test(inHome) || homeFolders.test(inHome))) return true;
  if (isOfGit(path) || /(?:^|\/)\.?venv\/bin\//.test(path)) return true;
  if (/^\/proc\/(?:self|thread-self)\/fd\/\d$/.test(path)) return false;
  return /^\/(?:etc|bin|sbin|lib|lib64|boot|proc|sys|usr\/(?:bin|sbin|lib|lib64|libexec|local\/s?bin|share)|var\/spool\/cron)(?:\/|$)/.test(
    path,
  );
}

/** Files in `.git` that people write by hand and that contain data only. */
const gitData = /^\/(?:info\/exclude|description|COMMIT_EDITMSG|MERGE_MSG|SQUASH_MSG|TAG_EDITMSG)$/;

/**
 * Returns true for `.git` itself, which may be a link to other settings, and for the files in it: settings, hooks, attributes
 * and the list of commands that `git rebase --continue` runs.
 */
function isOfGit(path: string): boolean {
  const [, inside] = /(?:^|\/)\.git(\/.*)?$/s.exec(path) ?? [path, undefined];
  const found = /(?:^|\/)\.git(?:\/|$)/.test(path);
  return found && !gitData.test(inside ?? '');
}
