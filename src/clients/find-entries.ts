import { existsSync } from 'node:fs';
import { type Client, type ClientMachine, clients, type Scope } from './clients.ts';
import { openConfigFile } from './config-file.ts';
import { type FoundEntry, readEntry } from './server-entry.ts';

/** An entry for nacre in the configuration of a client. */
export interface ClientEntry {
  /** The name that `nacre init` accepts. */
  readonly name: string;
  readonly title: string;
  readonly scope: Scope;
  readonly path: string;
  readonly entry: FoundEntry;
}

/** The entries for nacre on this machine; files that cannot be read or parsed are left out. */
export function findEntries(machine: ClientMachine): readonly ClientEntry[] {
  const scopes: readonly Scope[] = ['user', 'project'];
  return Object.entries(clients).flatMap(([name, client]) =>
    scopes.flatMap((scope) => {
      const path = findConfigFile(client, scope, machine);
      if (path === undefined || !existsSync(path)) return [];
      try {
        const entry = readEntry(openConfigFile(path).text, client, path);
        return entry === undefined ? [] : [{ name, title: client.title, scope, path, entry }];
      } catch {
        return [];
      }
    }),
  );
}

/** The path of a client's file: the first that exists, or the usual one; undefined if it has none for this scope. */
export function findConfigFile(client: Client, scope: Scope, machine: ClientMachine): string | undefined {
  const paths = client.files(scope, machine);
  return paths.find((path) => existsSync(path)) ?? paths[0];
}

/** The variable or flag with which an entry sets the list of programs itself; undefined if the settings file decides. */
export function listIn({ env = {}, args = [] }: FoundEntry): string | undefined {
  const flag = args.find((arg) => /^--(allow|preset)(=|$)/.test(arg));
  return (
    ['NACRE_PRESET', 'ALLOWED_COMMANDS', 'NACRE_ALLOWED_COMMANDS'].find((name) => env[name]) ??
    flag?.replace(/=.*/, '')
  );
}
