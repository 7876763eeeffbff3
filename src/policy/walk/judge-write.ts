import { type Arg, prefixOf } from '../words/arg.ts';
import { describeDevice } from '../words/devices.ts';
import { normalisePath } from '../words/paths.ts';
import type { WalkScope } from './scope.ts';
import type { Walk } from './walk.ts';

/** Judges a file that would be written: devices such as /dev/sda are danger; a list refuses files such as ~/.bashrc. */
export function judgeWrite(walk: Walk, target: Arg, program: string | undefined, scope: WalkScope): void {
  const span = { pos: target.pos, end: target.end };
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

/** Returns true for /dev/null and paths that refer to the command's own output. */
function isOwnOutput(path: string | undefined): boolean {
  return path !== undefined && /^\/dev\/(?:null|stdout|stderr|fd\/\d)$/.test(path);
}

function pathsOf(target: Arg, scope: WalkScope): string[] {
  const path = target.text ?? prefixOf(target);
  if (path === '') return [];
  const places = (scope.shell.cwd ?? [undefined]).map((cwd) => normalisePath(path, cwd));
  // With an unknown directory, match the relative path itself, for example `.git/config`.
  return [...new Set(places.map((place) => place ?? path.replace(/^(?:\.\/)+/, '')))];
}

const homeFiles =
  /^\.(?:bashrc|bash_profile|bash_login|bash_logout|bash_aliases|profile|zshrc|zshenv|zprofile|zlogin|kshrc|cshrc|tcshrc|login|inputrc|gitconfig|npmrc|yarnrc|vimrc|viminfo|exrc|nanorc|emacs|netrc|pythonrc|perldb|gdbinit|tmux\.conf|screenrc|wgetrc|curlrc|psqlrc|xinitrc|xsession|forward|ssh\/.*|gnupg\/.*|config\/(?:git|fish|systemd|autostart|nvim|environment\.d)\/.*|local\/bin\/.*)$/;

/** Returns true for files that shells, git or the system load code or settings from. */
function choosesCode(path: string, home: string): boolean {
  const inHome = path.startsWith(`${home}/`)
    ? path.slice(home.length + 1)
    : /^\/(?:home\/[^/]+|root)\/(.*)$/.exec(path)?.[1];
  if (inHome !== undefined && homeFiles.test(inHome)) return true;
  if (/(?:^|\/)\.git\/(?:hooks\/|config$|info\/attributes$|modules\/)/.test(path)) return true;
  if (/^\/proc\/(?:self|thread-self)\/fd\/\d$/.test(path)) return false;
  return /^\/(?:etc|bin|sbin|lib|lib64|boot|proc|sys|usr\/(?:bin|sbin|lib|lib64|libexec|local\/s?bin|share)|var\/spool\/cron)(?:\/|$)/.test(
    path,
  );
}
