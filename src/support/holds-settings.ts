import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { canonicalOrGiven } from './canonical-or-given.ts';

/** What tells the programs of a user, outside of every sandbox, what to run: the folders and files of a home directory. */
const settingPlaces = [
  '.config',
  '.bashrc.d',
  '.emacs.d',
  '.oh-my-zsh',
  '.vim',
  'bin',
  '.local/bin',
  '.local/share/applications',
  '.local/share/bash-completion',
  '.local/share/systemd',
  '.claude/settings.json',
  '.codex/config.toml',
  '.cursor/mcp.json',
  '.gemini/settings.json',
];

/** Whether what is written in a folder, given by its canonical path, may become a setting of programs outside of it. */
export function holdsSettings(folder: string, home: string): boolean {
  return settingPlaces.some((place) => {
    const path = join(home, place);
    return [path, behindLinks(path)].some((one) => isWithin(folder, one) || isWithin(one, folder));
  });
}

function isWithin(path: string, folder: string): boolean {
  return `${path}/`.startsWith(`${folder}/`);
}

// Most of them are not there, and an error takes longer than a look.
function behindLinks(path: string): string {
  return existsSync(path) ? canonicalOrGiven(path) : path;
}
