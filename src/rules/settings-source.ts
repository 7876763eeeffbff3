import { existsSync, readFileSync, realpathSync, statSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { NacreError } from '../contract/failure.ts';
import { listSettings } from '../settings/define.ts';
import { candidatesFromFlags, type ParsedFlags } from '../settings/parse-flags.ts';
import { candidatesFromEnvironment } from '../settings/read-environment.ts';
import type { SettingsFile } from '../settings/read-file.ts';
import { resolveCandidates } from '../settings/resolve-candidates.ts';
import { allSettings } from './all-settings.ts';
import { configHomeOf, homeOf } from './home-folders.ts';
import { type Resolved, readRules } from './rules-for.ts';

/** The sources of settings besides flags: `env`, and the files found from `cwd` and `config`. */
export interface SettingsLocation {
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly cwd: string;
  /** The file that `--config` names, used instead of the user's settings file. */
  readonly config?: string | undefined;
}

/** Reads the settings of one process, as often as needed. */
export interface SettingsSource {
  read(): Promise<Resolved>;
  /** The defaults with the state folder that is set, for subcommands that must work even if other settings are invalid. */
  readStateFolder(): Promise<Resolved>;
  /** A text that changes whenever the user's `config.yaml` does. */
  stamp(): string;
  /** Whether the user's `config.yaml` has a second hard link, through which it could be written. */
  hasOtherName(): boolean;
}

/** Combines flags, environment variables, the project file and the user's file. */
export function createSettingsSource(flags: ParsedFlags, location: SettingsLocation): SettingsSource {
  const { env, cwd, config } = location;
  const places = { cwd, home: homeOf(env), configHome: configHomeOf(env), named: config };
  // nacre sets these two for the commands it runs. They are not settings, and must not cause a warning in a nested nacre.
  const { NACRE_COMMAND_ID: _id, NACRE_INSTANCE: _server, ...given } = env;
  let first: { readonly project: SettingsFile | undefined } | undefined;
  const resolve = async () => {
    const { project: found, user } = readSettingsFiles(places);
    // Commands can write or remove the project's `nacre.yaml`, so a server reads it only once.
    first ??= { project: found };
    const { project } = first;
    if (!project && !user) return resolveCandidates({ flags, env: given }, allSettings);
    const { resolveSettings } = await import('../settings/resolve-settings.ts');
    return resolveSettings({ flags, env: given, project, user }, allSettings);
  };
  return {
    read: async () => readRules(await resolve()),
    readStateFolder: async () => {
      const { candidatesFromFile } = await import('../settings/read-file.ts');
      const settings = listSettings({ stateDir: allSettings.stateDir });
      const more = [
        candidatesFromFlags(flags, settings),
        candidatesFromEnvironment(given, settings),
        candidatesFromFile(tryUserFile(places), 'user', settings),
      ].map(({ candidates }) => ({ candidates, problems: [] }));
      return resolveCandidates({ more }, allSettings);
    },
    stamp: () => stampOfUserFile(places),
    hasOtherName: () => hasOtherName(places),
  };
}

/** Checks a user's settings file before it is written; throws `settings_invalid` with every problem. */
export async function checkUserFile(user: SettingsFile): Promise<void> {
  const { resolveSettings } = await import('../settings/resolve-settings.ts');
  await readRules(resolveSettings({ user }, allSettings));
}

/** The folders that are searched for `nacre.yaml` and `config.yaml`. */
export interface FilePlaces {
  readonly cwd: string;
  readonly home: string;
  readonly configHome: string;
  /** The file that `--config` names, used instead of the user's. */
  readonly named: string | undefined;
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

function tryUserFile(places: FilePlaces): SettingsFile | undefined {
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
