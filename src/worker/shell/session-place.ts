import { statSync } from 'node:fs';
import { dirname } from 'node:path';
import type { Enforcement } from '../../contract/isolation.ts';
import type { JobSpec } from '../../contract/job.ts';
import { identifyFolders } from '../sandbox/workspace.ts';

/** Where the shells of a session run: the directory of its host process, and which folders their sandbox has. */
export class SessionPlace {
  /** Directory of the first command: a sandbox keeps it writable wherever later commands go. */
  #start: string | null = null;
  #workspace: readonly string[] = [];
  /** `identifyFolders` of the workspace when the host was started. */
  #identity = '';
  #enforcement: Enforcement | null = null;

  /** The directory for a new host: that of the first command as long as it is in the workspace. */
  choose({ cwd, isolation }: Pick<JobSpec, 'cwd' | 'isolation'>): string {
    const { workspace = [] } = isolation ?? {};
    const [first = cwd] = workspace;
    const candidates = [this.#start ?? cwd, cwd];
    this.#start = candidates.find((path) => workspace.length === 0 || isIn(path, workspace)) ?? first;
    this.#workspace = workspace;
    this.#identity = identifyFolders(this.#folders());
    return this.#start;
  }

  /** Remembers what is enforced on the host. */
  noteStart(enforcement: Enforcement): void {
    this.#enforcement = enforcement;
  }

  /** True if the sandbox of the host has folders that are no longer the workspace: others, or moved ones. */
  isOutdated({ isolation }: Pick<JobSpec, 'isolation'>): boolean {
    if (this.#enforcement === null || this.#enforcement.sandbox === 'off') return false;
    const { workspace = [] } = isolation ?? {};
    return (
      workspace.join('\0') !== this.#workspace.join('\0') ||
      identifyFolders(this.#folders()) !== this.#identity
    );
  }

  /** True for a path in the /tmp of the room: on the machine itself, another folder may have that name. */
  isPrivate(path: string): boolean {
    const hasOwnTmp = this.#enforcement?.files === 'namespace';
    return hasOwnTmp && isIn(path, ['/tmp']) && !isIn(path, this.#folders());
  }

  /** The directory itself or, if it was deleted, the nearest parent that is left. */
  toExisting(path: string): string {
    if (this.isPrivate(path) || isDirectory(path) || dirname(path) === path) return path;
    return this.toExisting(dirname(path));
  }

  #folders(): readonly string[] {
    return [...this.#workspace, ...(this.#start === null ? [] : [this.#start])];
  }
}

function isIn(path: string, folders: readonly string[]): boolean {
  return folders.some((folder) => `${path}/`.startsWith(folder === '/' ? '/' : `${folder}/`));
}

function isDirectory(path: string): boolean {
  try {
    return statSync(path).isDirectory();
  } catch {
    return false;
  }
}
