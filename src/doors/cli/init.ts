// `nacre init CLIENT`: 1. the client's own configuration file is found and read, 2. what its entry for nacre is to say comes
// from flags, from the entry that is there, from questions on a terminal, or from defaults, 3. that entry alone is written.
import { resolve } from 'node:path';
import {
  anyClient,
  type Client,
  type ClientSurroundings,
  clients,
  type Scope,
} from '../../clients/clients.ts';
import { type ConfigFile, openConfigFile } from '../../clients/config-file.ts';
import {
  type FoundEntry,
  readEntry,
  removeEntry,
  type ServerEntry,
  writeEntry,
} from '../../clients/server-entry.ts';
import { NacreError, toNacreError } from '../../contract/failure.ts';
import { didYouMean } from '../../settings/nearest.ts';
import type { FlagAccess, IoAccess, PlaceAccess } from '../door.ts';
import { exitCodes } from '../exit-codes.ts';
import { toSentences, write } from '../say.ts';
import { type Ask, createAsk } from './init/ask.ts';
import { type Choices, chooseEntry, chooseProject, type EntryDeps } from './init/choose-entry.ts';
import { toListWords } from './init/parse-entry.ts';

interface Flags {
  readonly print: boolean;
  readonly remove: boolean;
  readonly yes: boolean;
  readonly scope?: Scope | undefined;
  readonly project?: string | undefined;
  readonly file?: string | undefined;
  readonly config?: string | undefined;
}

type InitDeps = EntryDeps & IoAccess & PlaceAccess;

/** Makes a client start nacre, or no longer. */
export async function initDoor(deps: InitDeps & FlagAccess<Flags>): Promise<number> {
  const { io, flags } = deps;
  try {
    const [name, ...more] = deps.words;
    if (more.length > 0) throw wrong(`nacre init takes one client, not ${deps.words.join(' ')}.`);
    await (flags.print && !flags.remove ? print(deps, name, flags) : edit(deps, findClient(name), flags));
    return 0;
  } catch (error) {
    await write(io.stderr, toSentences(error));
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
    name === undefined ? 'Name a client.' : `There is no client ${name}.${didYouMean(name, names)}`;
  throw wrong(`${message} They are ${names.join(', ')}.`);
}

function wrong(message: string): NacreError {
  return new NacreError('invalid_request', message, {
    hint: 'nacre init --print shows what to add to the configuration of any other client.',
  });
}

async function print(deps: InitDeps, name: string | undefined, flags: Flags): Promise<void> {
  const client = name !== undefined && Object.hasOwn(clients, name) ? clients[name] : undefined;
  const { entry } = await chooseEntry(deps, client, flags, undefined, undefined);
  await write(deps.io.stdout, writeEntry('', client ?? anyClient, entry, 'the entry'), deps.io.interrupted);
}

async function edit(deps: InitDeps, client: Client, flags: Flags): Promise<void> {
  const ask = flags.yes || flags.remove ? undefined : createAsk(deps.io);
  try {
    await editWith(deps, client, await withFolder(deps, client, flags, ask), ask);
  } finally {
    ask?.close();
  }
}

// A project's file lies in its folder, which is therefore asked for first.
async function withFolder(
  deps: InitDeps,
  client: Client,
  flags: Flags,
  ask: Ask | undefined,
): Promise<Flags> {
  const { scope = client.scope, project, file } = flags;
  const isNeeded = project !== undefined || (scope === 'project' && file === undefined);
  return isNeeded ? { ...flags, project: await chooseProject(deps, client, flags, undefined, ask) } : flags;
}

async function editWith(deps: InitDeps, client: Client, flags: Flags, ask: Ask | undefined): Promise<void> {
  const path = placeOf(deps, client, flags);
  const file = openConfigFile(path);
  const before = readEntry(file.text, client, path);
  if (flags.remove)
    return say(
      deps,
      before === undefined
        ? [`${path} has no entry for nacre; nothing was written.`]
        : remove(deps, client, file, path, flags),
    );
  refuseAddress(path, before);
  const choices = await chooseEntry(deps, client, flags, before, ask);
  refuseReplaced(client, choices.entry);
  const text = writeEntry(file.text, client, choices.entry, path);
  if (text === file.text)
    return say(deps, [`${path} says this already; nothing was written.`, ...summary(client, choices)]);
  const backup = file.replace(text, deps.places.backupDir);
  return say(deps, [`${path} was written.`, ...keptAt(backup), ...summary(client, choices), client.reload]);
}

function remove(
  { places }: PlaceAccess,
  client: Client,
  file: ConfigFile,
  path: string,
  { print: onlyTell }: Flags,
): readonly string[] {
  const text = removeEntry(file.text, client, path);
  if (onlyTell)
    return [
      `${client.title} would no longer start nacre: its entry would be removed from ${path}. Nothing was written.`,
    ];
  const backup = file.replace(text, places.backupDir);
  return [`${client.title} no longer starts nacre: its entry was removed from ${path}.`, ...keptAt(backup)];
}

function placeOf(deps: InitDeps, client: Client, { scope = client.scope, project, file }: Flags): string {
  if (file !== undefined) return resolve(deps.cwd, file);
  const here: ClientSurroundings = { ...deps.machine, project: project ?? deps.cwd };
  const path = client.file(scope, here);
  if (path !== undefined) return resolve(deps.cwd, path);
  throw new NacreError('invalid_request', `${client.title} has no configuration for one project.`, {
    hint: 'Leave --scope project out.',
  });
}

// A client takes an address or a program: some prefer the address, others refuse the whole file.
function refuseAddress(path: string, before: FoundEntry | undefined): void {
  if (before?.address === undefined) return;
  throw new NacreError('invalid_request', `The entry for nacre in ${path} leads to ${before.address}.`, {
    hint: 'Take it out with nacre init --remove, then run nacre init again; nothing was written.',
  });
}

// What a client would replace in a value, nacre would never see.
function refuseReplaced({ title, replaces }: Client, { command, args, env }: ServerEntry): void {
  const value = [command, ...args, ...Object.values(env)].find((one) => replaces?.test(one));
  if (value === undefined) return;
  throw new NacreError('invalid_request', `${title} would replace the $ in ${value}.`, {
    hint: 'Use a folder or a value without $.',
  });
}

function keptAt(backup: string | undefined): readonly string[] {
  return backup === undefined ? [] : [`The file as it was: ${backup}`];
}

function summary({ title, startsInProject }: Client, { project, entry, notes }: Choices): readonly string[] {
  const commands = toListWords(entry.env);
  return [
    `  folder    ${project ?? (startsInProject ? `where ${title} works` : `where ${title} starts it`)}`,
    `  commands  ${commands || 'as your settings file says'}`,
    `  sandbox   ${entry.env.NACRE_SANDBOX ?? 'as your settings file says, off without one'}`,
    ...notes,
  ];
}

function say({ io }: IoAccess, lines: readonly string[]): Promise<void> {
  return write(io.stdout, lines.map((line) => `${line}\n`).join(''), io.interrupted);
}
