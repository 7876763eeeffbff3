import { existsSync, readFileSync, realpathSync, statSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { NacreError } from '../contract/failure.ts';
import type { SettingsFile } from '../settings/read-file.ts';

/** The folders that are searched for `nacre.yaml` and `config.yaml`. */
export interface FilePlaces {
  readonly cwd: string;
  readonly home: string;
  readonly configHome: string;
  /** The file that `--config` names, used instead of the user's. */
  readonly named: string | undefined;
}

/** Settings files as they were read once, with the stamp of the user's file at that time. */
export interface ReadFiles {
  readonly project?: SettingsFile;
  readonly user?: SettingsFile;
  readonly stamp: string;
}

/** Reads the settings files; a change after that has another stamp. */
export function readStampedFiles(places: FilePlaces): ReadFiles {
  const stamp = stampOfUserFile(places);
  return { ...readSettingsFiles(places), stamp };
}

/** Reads the nearest `nacre.yaml` from `cwd` upward, and the user's settings file. */
export function readSettingsFiles(places: FilePlaces): { project?: SettingsFile; user?: SettingsFile } {
  const project = findUpward('nacre.yaml', places.cwd, places.home);
  const user = userFile(places);
  return {
    ...(project !== undefined && { project: read(project) }),
    ...(user !== undefined && { user: read(user) }),
  };
}

/** The user's settings file; undefined if there is none, or it cannot be read. */
export function tryUserFile(places: FilePlaces): SettingsFile | undefined {
  const path = userFile(places);
  try {
    return path === undefined ? undefined : read(path);
  } catch {
    return undefined;
  }
}

/** A text that changes whenever the user's `config.yaml` does. */
export function stampOfUserFile(places: FilePlaces): string {
  const path = userFile(places);
  const found = path === undefined ? undefined : statSync(path, { bigint: true, throwIfNoEntry: false });
  return found === undefined ? '' : [path, found.ino, found.size, found.mtimeNs, found.ctimeNs].join(' ');
}

/** Whether the user's `config.yaml` has a second hard link, through which it could be written. */
export function hasOtherName(places: FilePlaces): boolean {
  const path = userFile(places);
  return path !== undefined && (statSync(path, { throwIfNoEntry: false })?.nlink ?? 0) > 1;
}

function userFile({ cwd, configHome, named }: FilePlaces): string | undefined {
  if (named !== undefined) return resolve(cwd, named);
  const usual = join(configHome, 'nacre', 'config.yaml');
  return existsSync(usual) ? usual : undefined;
}

function findUpward(name: string, from: string, home: string): string | undefined {
  for (let folder = from; ; folder = dirname(folder)) {
    const candidate = join(folder, name);
    if (existsSync(candidate)) return candidate;
    if (folder === home || folder === dirname(folder)) return undefined;
  }
}

const maxBytes = 1_048_576;

// A cloned project may link `nacre.yaml` to a device or a FIFO, whose read would never end.
function read(path: string): SettingsFile {
  try {
    const found = statSync(path);
    if (realpathSync(path) === '/dev/null') return { path, text: '' };
    if (!found.isFile()) throw new Error('it is not a regular file.');
    if (found.size > maxBytes) throw new Error(`it is larger than ${maxBytes} bytes.`);
    return { path, text: readFileSync(path, 'utf8') };
  } catch (cause) {
    const reason = cause instanceof Error ? cause.message : String(cause);
    throw new NacreError('settings_invalid', `The settings file ${path} cannot be read: ${reason}`, {
      hint: 'Make it readable or remove it; nothing was started.',
      cause,
    });
  }
}
