import { protectedNames } from '../../contract/protected-names.ts';

/** The parts of a git folder that decide which commands git runs. */
export const protectedInGit: readonly string[] = ['config', 'config.worktree', 'hooks', 'commondir'];

/** Whether a directory is in a folder of `protectedNames` or of git, but not in a worktree that an agent keeps there. */
export function isInProtected(directory: string): boolean {
  const parts = directory.split('/');
  const last = parts.findLastIndex((part) => part === '.git' || protectedNames.includes(part));
  return last !== -1 && parts[last + 1] !== 'worktrees';
}

/** The paths in a workspace that a sandbox protects, because programs outside of it run them (`protectedNames`). */
export interface ProtectedPaths {
  /** Existing files and folders, which are read-only. */
  readonly readOnly: readonly string[];
  /** Folders that contain some of them, and that must not be renamed. */
  readonly fixed: readonly string[];
  /** Paths that do not exist: nothing can be mounted there, so commands can create them. */
  readonly missing: readonly string[];
}

/** `ProtectedPaths` that protects nothing. */
export const unprotectedPaths: ProtectedPaths = { readOnly: [], fixed: [], missing: [] };
