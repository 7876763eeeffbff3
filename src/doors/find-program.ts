import { accessSync, constants, existsSync } from 'node:fs';
import { join } from 'node:path';

/** The path of a program on the PATH. */
export function findOnPath(path: string, name: string): string | undefined {
  return path
    .split(':')
    .filter((folder) => folder.startsWith('/'))
    .map((folder) => join(folder, name))
    .find(isExecutable);
}

function isExecutable(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return existsSync(path);
  } catch {
    return false;
  }
}

const installers = {
  'apt-get': 'sudo apt-get install',
  dnf: 'sudo dnf install',
  pacman: 'sudo pacman -S',
  apk: 'sudo apk add',
  zypper: 'sudo zypper install',
  brew: 'brew install',
};

/** The command that installs a package here, such as `sudo apt-get install`. */
export function installer(path: string): string {
  const [, words] = Object.entries(installers).find(([name]) => findOnPath(path, name) !== undefined) ?? [];
  return words ?? 'Install';
}
