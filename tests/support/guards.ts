import { copyFileSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { builtGuard } from './build.ts';
import { temporaryFolder } from './temporary-folder.ts';

/** The two programs of the guard: the built one prefers perl; without exec-guard.pl next to it, Node is used. */
export const guards = [
  { guard: 'perl', path: () => builtGuard },
  { guard: 'node', path: nodeGuard },
] as const;

/** A copy of exec-guard.js without exec-guard.pl. */
export function nodeGuard(): string {
  const folder = temporaryFolder();
  copyFileSync(builtGuard, join(folder, 'exec-guard.mjs'));
  symlinkSync(join(process.cwd(), 'node_modules'), join(folder, 'node_modules'));
  return join(folder, 'exec-guard.mjs');
}
