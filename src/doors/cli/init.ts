// `nacre init CLIENT`: 1. the client's own configuration file is found and read, 2. the entry for nacre is chosen from
// flags, the existing entry, questions on a terminal, or defaults, 3. the answers are written to the user's settings file, and
// the entry with what only this client needs.
import { resolve } from 'node:path';
import { anyClient, type Client, type ClientMachine, clients, type Scope } from '../../clients/clients.ts';
import { type ConfigFile, openConfigFile } from '../../clients/config-file.ts';
import { findMissingConsents } from '../../clients/find-consents.ts';
import { findConfigFile } from '../../clients/find-entries.ts';
import {
  type FoundEntry,
  readEntry,
  removeEntry,
  type ServerEntry,
  writeEntry,
} from '../../clients/server-entry.ts';
import { NacreError, toNacreError } from '../../contract/failure.ts';
import { readValues, setValues } from '../../settings/edit-file.ts';
import { didYouMean } from '../../settings/nearest.ts';
import { type Ask, createAsk } from '../ask.ts';
import type { FlagAccess, IoAccess, PlaceAccess } from '../door.ts';
import { exitCodes } from '../exit-codes.ts';
import { print, toErrorText } from '../print.ts';
import { openUserSettings } from '../user-settings.ts';
import { type ChosenEntry, chooseEntry, chooseProject, type EntryDeps } from './init/choose-entry.ts';
import { chooseOwnShell, type OwnShellContext, restoreOwnShell } from './init/choose-own-shell.ts';
import { summarise } from './init/summarise.ts';

interface Flags {
  readonly print: boolean;
  readonly remove: boolean;
  readonly yes: boolean;
  readonly scope?: Scope | undefined;
  readonly project?: string | undefined;
  readonly file?: string | undefined;
  readonly config?: string | undefined;
  readonly ownShell?: 'on' | 'off' | undefined;
}

type InitDeps = EntryDeps & IoAccess & PlaceAccess;

/** Adds nacre to a client's configuration, or removes it (`--remove`). */
export async function initDoor(deps: InitDeps & FlagAccess<Flags>): Promise<number> {
  const { io, flags } = deps;
  try {
    const [name, ...more] = deps.words;
    if (more.length > 0) throw invalid(`nacre init expects one client, not ${deps.words.join(' ')}.`);
    await (flags.print && !flags.remove
      ? printEntry(deps, name, flags)
      : edit(deps, findClient(name), flags));
    return 0;
  } catch (error) {
    await print(io.stderr, toErrorText(error));
    return exitCodes[toNacreError(error).code];
  } finally {
    await deps.close();
  }
}

function findClient(name: string | undefined): Client {
  const names = Object.keys(clients);
  const client = name !== undefined && Object.hasOwn(clients, name) ? clients[name] : undefined;
  if (client !== undefined) return client;
  const message =
    name === undefined ? 'No client was named.' : `Unknown client: ${name}.${didYouMean(name, names)}`;
  throw invalid(`${message} Supported clients: ${names.join(', ')}.`);
}

function invalid(message: string): NacreError {
  return new NacreError('invalid_request', message, {
    hint: 'Run nacre init --print to see what to add to the configuration of any other client.',
  });
}

async function printEntry(deps: InitDeps, name: string | undefined, flags: Flags): Promise<void> {
  const client = name !== undefined && Object.hasOwn(clients, name) ? clients[name] : undefined;
  const storage = { file: readValues(openUserSettings(deps).text), canWrite: false };
  const { entry } = await chooseEntry(deps, client, flags, undefined, storage, undefined);
  const text = writeEntry('', client ?? anyClient, entry, 'the entry');
  await print(deps.io.stdout, text, deps.io.interrupted);
}

async function edit(deps: InitDeps, client: Client, flags: Flags): Promise<void> {
  const ask = flags.yes || flags.remove ? undefined : createAsk(deps.io);
  try {
    await editFile(deps, client, await withProject(deps, client, flags, ask), ask);
  } finally {
    ask?.close();
  }
}

// With `--scope project` the configuration file is in the project's folder, so the question about the folder comes
// first.
async function withProject(
  deps: InitDeps,
  client: Client,
  flags: Flags,
  ask: Ask | undefined,
): Promise<Flags> {
  const { scope = client.scope, project, file } = flags;
  const isNeeded = project !== undefined || (scope === 'project' && file === undefined);
  return isNeeded ? { ...flags, project: await chooseProject(deps, client, flags, undefined, ask) } : flags;
}

async function editFile(deps: InitDeps, client: Client, flags: Flags, ask: Ask | undefined): Promise<void> {
  const path = configPathOf(deps, client, flags);
  const file = openConfigFile(path);
  const before = readEntry(file.text, client, path);
  const shell = toShellContext(deps, client, flags);
  if (flags.remove)
    return printLines(deps, [
      ...(before === undefined
        ? [`${path} has no entry for nacre; nothing was written.`]
        : remove(deps, client, file, path, flags)),
      ...(flags.print ? [] : await restoreOwnShell(shell, flags.ownShell)),
    ]);
  refuseAddress(path, before);
  const settings = openUserSettings(deps);
  const storage = { file: readValues(settings.text), canWrite: true };
  const chosen = await chooseEntry(deps, client, flags, before, storage, ask);
  refuseSubstitution(client, chosen.entry);
  const text = writeEntry(file.text, client, chosen.entry, path);
  const values = setValues(settings.text, chosen.changes);
  const turnOwnShell = await chooseOwnShell(shell, flags.ownShell, ask);
  const written = await settings.replace(values);
  return printLines(deps, [
    ...written.lines,
    ...replaceOrUndo(deps, file, path, text, written.undo),
    ...summarise(client, chosen, readValues(values)),
    ...needRestart(deps, chosen.changes),
    ...turnOwnShell(),
    ...(text === file.text ? [] : [client.reload]),
    ...nameConsents(shell, path),
  ]);
}

function nameConsents({ name, scope, machine }: OwnShellContext, path: string): readonly string[] {
  return findMissingConsents(name, scope, machine, path).map(({ without, give }) => `${without} ${give}`);
}

function toShellContext(
  deps: InitDeps,
  client: Client,
  { scope = client.scope, project }: Flags,
): OwnShellContext {
  const [name = ''] = deps.words;
  const machine = { ...deps.machine, project: project ?? deps.cwd };
  return { name, client, scope, machine, backupDir: deps.places.backupDir };
}

/** Writes the client's file; if that fails, the settings file is restored. */
function replaceOrUndo(
  { places }: PlaceAccess,
  file: ConfigFile,
  path: string,
  text: string,
  undo: () => void,
): readonly string[] {
  if (text === file.text) return [`${path} already has this entry; it was not changed.`];
  try {
    return [...describeBackup(file.replace(text, places.backupDir)), `${path} was updated.`].reverse();
  } catch (error) {
    undo();
    throw error;
  }
}

function needRestart({ settings }: InitDeps, changes: ChosenEntry['changes']): readonly string[] {
  const fixed = settings.filter(({ key, isLive }) => key in changes && !isLive).map(({ key }) => key);
  return fixed.length === 0
    ? []
    : [`Restart nacre servers that are running: they cannot change ${fixed.join(' and ')} while they run.`];
}

function remove(
  { places }: PlaceAccess,
  client: Client,
  file: ConfigFile,
  path: string,
  { print: isDryRun }: Flags,
): readonly string[] {
  const text = removeEntry(file.text, client, path);
  if (isDryRun)
    return [
      `${client.title} would no longer start nacre: its entry would be removed from ${path}. Nothing was written.`,
    ];
  const backup = file.replace(text, places.backupDir);
  return [
    `${client.title} no longer starts nacre: its entry was removed from ${path}.`,
    ...describeBackup(backup),
  ];
}

function configPathOf(
  deps: InitDeps,
  client: Client,
  { scope = client.scope, project, file }: Flags,
): string {
  if (file !== undefined) return resolve(deps.cwd, file);
  const machine: ClientMachine = { ...deps.machine, project: project ?? deps.cwd };
  const path = findConfigFile(client, scope, machine);
  if (path !== undefined) return resolve(deps.cwd, path);
  throw new NacreError('invalid_request', `${client.title} has no project-specific configuration.`, {
    hint: 'Omit --scope project.',
  });
}

// An entry must have either `url` or `command`: with both, some clients use the `url` and others reject the file.
function refuseAddress(path: string, before: FoundEntry | undefined): void {
  if (before?.address === undefined) return;
  throw new NacreError(
    'invalid_request',
    `The entry for nacre in ${path} connects to the address ${before.address}.`,
    { hint: 'Remove it with nacre init --remove, then run nacre init again; nothing was written.' },
  );
}

// Some clients expand `$…` in values, so nacre would receive a different text.
function refuseSubstitution({ title, replaces }: Client, { command, args, env }: ServerEntry): void {
  const value = [command, ...args, ...Object.values(env)].find((one) => replaces?.test(one));
  if (value === undefined) return;
  throw new NacreError('invalid_request', `${title} would expand the $ in ${value}.`, {
    hint: 'Use a folder or a value without $.',
  });
}

function describeBackup(backup: string | undefined): readonly string[] {
  return backup === undefined ? [] : [`Backup of the previous file: ${backup}`];
}

function printLines({ io }: IoAccess, lines: readonly string[]): Promise<void> {
  return print(io.stdout, lines.map((line) => `${line}\n`).join(''), io.interrupted);
}
