import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { tryRealpath } from './try-realpath.ts';

/** Files and folders below the home directory from which programs outside the sandbox read configuration or code. */
const configPaths = [
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

/** Whether a sandboxed command that can write to `folder`, a canonical path, could change `configPaths`. */
export function overlapsUserConfig(folder: string, home: string): boolean {
  return configPaths.some((name) => {
    const path = join(home, name);
    return [path, resolveLinks(path)].some((one) => isWithin(folder, one) || isWithin(one, folder));
  });
}

function isWithin(path: string, folder: string): boolean {
  return `${path}/`.startsWith(`${folder}/`);
}

// Most of `configPaths` do not exist, and a failing realpath() is slower than `existsSync`.
function resolveLinks(path: string): string {
  return existsSync(path) ? tryRealpath(path) : path;
}
