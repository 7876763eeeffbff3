// The entries for nacre in the configuration of clients: the user's own files, and those of every project that a command ran in.
import { dirname } from 'node:path';
import { readHistory } from '../../../audit/history.ts';
import { type Client, clients, type Scope } from '../../../clients/clients.ts';
import { openConfigFile } from '../../../clients/config-file.ts';
import { readEntry, removeEntry } from '../../../clients/server-entry.ts';
import { NacreError } from '../../../contract/failure.ts';
import type { PlaceAccess, ProcessAccess } from '../../door.ts';
import { findShellsOff } from './find-shells-off.ts';
import { findAt, type Removal } from './removal.ts';

type ClientDeps = PlaceAccess & ProcessAccess;

/** The entries to remove, and a sentence for each file that cannot be read. */
export interface PlannedClients {
  readonly entries: readonly Removal[];
  readonly problems: readonly string[];
  /** A sentence for each client that loses nacre while its own shell is off. */
  readonly shellsOff: readonly string[];
}

/** Finds every entry for nacre. */
export function planClients(deps: ClientDeps): PlannedClients {
  const folders = foldersOf(deps);
  const files = new Map(Object.values(clients).flatMap((client) => filesOf(deps, client, folders)));
  const planned = [...files].map(([path, client]) => ({ client, ...planFile(deps, client, path) }));
  const losing = planned.flatMap(({ client, entry }) => (entry === undefined ? [] : [client]));
  return {
    entries: planned.flatMap(({ entry }) => entry ?? []),
    problems: planned.flatMap(({ problem }) => problem ?? []),
    shellsOff: findShellsOff(deps, new Set(losing), folders),
  };
}

function filesOf(
  deps: ClientDeps,
  client: Client,
  folders: readonly string[],
): readonly (readonly [path: string, client: Client])[] {
  const at = (scope: Scope, project: string) => client.files(scope, { ...deps.machine, project });
  const paths = [...at('user', deps.cwd), ...folders.flatMap((folder) => at('project', folder))];
  return paths.flatMap((path) => (findAt(path) ? [[path, client] as const] : []));
}

const mostFolders = 1_000;

// Clients keep project configuration in the project's folder, which a command may have run below.
function foldersOf({ cwd, machine, places }: ClientDeps): readonly string[] {
  const visited = new Set<string>();
  for (const start of [cwd, ...historyFolders(places.audit.dir)])
    for (let folder = start; !visited.has(folder) && visited.size < mostFolders; folder = dirname(folder)) {
      visited.add(folder);
      if (folder === machine.home) break;
    }
  return [...visited];
}

// A log that cannot be read must not prevent the removal of the rest.
function historyFolders(dir: string): readonly string[] {
  try {
    return readHistory(dir)
      .flatMap(({ cwd }) => cwd ?? [])
      .reverse();
  } catch {
    return [];
  }
}

function planFile(
  { places }: ClientDeps,
  client: Client,
  path: string,
): { readonly entry?: Removal; readonly problem?: string } {
  try {
    if (readEntry(openConfigFile(path).text, client, path) === undefined) return {};
    return {
      entry: {
        what: `the entry of ${client.title}`,
        path,
        remove() {
          const file = openConfigFile(path);
          file.replace(removeEntry(file.text, client, path), places.backupDir);
        },
      },
    };
  } catch (error) {
    if (!(error instanceof NacreError)) throw error;
    return { problem: `${client.title}: ${error.message}` };
  }
}
