import { lstatSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { readRegularFile } from '../../support/regular-file.ts';
import { toCanonical } from './own-files.ts';

// Each of these files has one line with a path.
const maxBytes = 65_536;

/**
 * The git folder of a worktree's repository, which may be in a hidden home directory, as a list that is empty for any other
 * directory. A command can write any path into the file `.git` of its workspace, so the repository must name the
 * worktree, too.
 */
export function findCommonGitFolder(worktree: string): readonly string[] {
  try {
    const file = join(worktree, '.git');
    if (!lstatSync(file).isFile()) return [];
    const [, named] = /^gitdir: (.+)$/m.exec(readRegularFile(file, maxBytes)) ?? [];
    const [own] = toCanonical(resolve(worktree, named ?? '/nowhere'));
    if (own === undefined || dirname(own).split('/').at(-1) !== 'worktrees') return [];
    const back = resolve(own, readRegularFile(join(own, 'gitdir'), maxBytes).trim());
    const common = dirname(dirname(own));
    const isRepository = lstatSync(join(common, 'HEAD')).isFile();
    return toCanonical(back)[0] === file && isRepository ? [common] : [];
  } catch {
    return [];
  }
}
