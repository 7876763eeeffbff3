import { readFileSync } from 'node:fs';

/** The system on which a package is to be installed. */
export interface PackageSystem {
  /** `process.platform`. */
  readonly platform: string;
  /** The text of /etc/os-release; empty if there is none. */
  readonly osRelease: string;
  readonly isRoot: boolean;
}

// The names in ID and ID_LIKE of /etc/os-release, and the command that installs packages there.
const installers: readonly (readonly [RegExp, string])[] = [
  [/^(?:debian|ubuntu|linuxmint|raspbian)$/, 'apt-get install'],
  [/^(?:fedora|rhel|centos|amzn)$/, 'dnf install'],
  [/^alpine$/, 'apk add'],
  [/^(?:arch|archarm|manjaro)$/, 'pacman -S'],
  [/^(?:suse|opensuse.*|sles)$/, 'zypper install'],
  [/^void$/, 'xbps-install'],
  [/^gentoo$/, 'emerge'],
];

/** The command that installs a package, such as `sudo apt-get install git`; `Install git` on an unknown system. */
export function toInstallCommand(name: string, { platform, osRelease, isRoot }: PackageSystem): string {
  if (platform === 'darwin') return `brew install ${name}`;
  const ids = ['ID', 'ID_LIKE'].flatMap((field) => readField(osRelease, field).split(' '));
  const words = ids.flatMap((id) => installers.find(([pattern]) => pattern.test(id))?.[1] ?? [])[0];
  if (words === undefined) return `Install ${name}`;
  return `${isRoot ? '' : 'sudo '}${words} ${name}`;
}

/** This machine as a `PackageSystem`. */
export function thisSystem(): PackageSystem {
  return {
    platform: process.platform,
    osRelease: readOsRelease(),
    isRoot: process.getuid?.() === 0,
  };
}

function readField(text: string, name: string): string {
  const [, value = ''] = new RegExp(`^${name}=["']?([^"'\\n]*)`, 'm').exec(text) ?? [];
  return value;
}

function readOsRelease(): string {
  try {
    return readFileSync('/etc/os-release', 'utf8');
  } catch {
    return '';
  }
}
