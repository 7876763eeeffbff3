// Chooses the entry for nacre in a client's configuration. For each of folder, programs, sandbox and network: a flag decides;
// otherwise the value of the existing entry or of the settings file, or else a default, is proposed and, on a terminal, asked
// about. `choice.ts` then decides whether an answer goes into the settings file or into the entry.
import { statSync } from 'node:fs';
import { resolve } from 'node:path';
import type { Client, Scope } from '../../../clients/clients.ts';
import type { ServerEntry } from '../../../clients/server-entry.ts';
import { NacreError } from '../../../contract/failure.ts';
import type { Ask } from '../../ask.ts';
import type { Arguments, EngineAccess, ProcessAccess, SettingsAccess } from '../../door.ts';
import { askedVariables, type Placed, placeChoice, type Storage, type Variables } from './choice.ts';
import { chooseCommands } from './choose-commands.ts';
import { chooseNetwork } from './choose-network.ts';
import { chooseSandbox, findSandboxes } from './choose-sandbox.ts';
import { type ParsedEntry, parseEntry } from './parse-entry.ts';

/** Dependencies of `chooseEntry`. */
export type EntryDeps = Arguments & EngineAccess & ProcessAccess & SettingsAccess;

/** The entry that `nacre init` writes. */
export interface ChosenEntry {
  readonly entry: ServerEntry;
  /** Keys of the user's settings file to set; undefined removes a key. */
  readonly changes: Placed['changes'];
  /** The folder that commands run in (`--cwd`); undefined if the client decides. */
  readonly project: string | undefined;
  /** Notes to print for the user. */
  readonly notes: readonly string[];
}

/** Flags of `nacre init` that answer a question in advance. */
export interface EntryFlags {
  readonly scope?: Scope | undefined;
  readonly project?: string | undefined;
  readonly config?: string | undefined;
}

/** Chooses the entry for a client; `existing` is its current one, and `file` the values of the user's settings file. */
export async function chooseEntry(
  deps: EntryDeps,
  client: Client | undefined,
  flags: EntryFlags,
  existing: Partial<ServerEntry> | undefined,
  storage: Omit<Storage, 'isForOneProject'>,
  ask: Ask | undefined,
): Promise<ChosenEntry> {
  const before = parseEntry(existing, givenFlags(deps, flags));
  const project = await chooseProject(deps, client, flags, before.project, ask);
  const fromFlags = toVariables(deps);
  const { file } = storage;
  const programs = await chooseCommands({ ...deps, file }, project ?? deps.cwd, fromFlags, before, ask);
  const { choice: sandbox, notes } = await chooseSandbox(deps, project, fromFlags, before, ask);
  const canFilter = await canFilterHosts(deps, sandbox.variables.NACRE_SANDBOX ?? file.sandbox);
  const network = await chooseNetwork({ file, programs, canFilter }, fromFlags, before, ask);
  const where: Storage = { ...storage, isForOneProject: project !== undefined };
  const placed = [
    placeChoice('programs', programs, where),
    placeChoice('sandbox', sandbox, where),
    placeChoice('network', network, where),
  ];
  const chosen = Object.assign({}, ...placed.map(({ env }) => env)) as Variables;
  const env = { ...keptVariables(before, project), ...chosen, ...omit(fromFlags, askedVariables) };
  const { node, script } = deps.program;
  const folder = project === undefined ? [] : ['--cwd', project];
  const config = flags.config === undefined ? [] : ['--config', resolve(deps.cwd, flags.config)];
  return {
    entry: { command: node, args: [script, 'mcp', ...folder, ...config, ...before.otherArgs], env },
    changes: Object.assign({}, ...placed.map(({ changes }) => changes)),
    project,
    notes: [...notes, ...warnOfNpxCache(script)],
  };
}

/** The variables that the entry keeps, with ALLOWED_CWD_ROOTS for its folder. */
function keptVariables({ env = {}, project: old }: ParsedEntry, project: string | undefined): Variables {
  const others = omit(env, askedVariables);
  // ALLOWED_CWD_ROOTS is comma-separated, so a folder with a comma in its name cannot be listed.
  const isRoot = project !== undefined && !project.includes(',');
  const isOwnRoot = others.ALLOWED_CWD_ROOTS === undefined || others.ALLOWED_CWD_ROOTS === old;
  return { ...others, ...(isRoot && isOwnRoot ? { ALLOWED_CWD_ROOTS: project } : {}) };
}

function omit(variables: Variables, names: readonly string[]): Variables {
  return Object.fromEntries(Object.entries(variables).filter(([name]) => !names.includes(name)));
}

async function canFilterHosts(deps: EntryDeps, level: unknown): Promise<boolean> {
  if (level === undefined || level === 'off') return false;
  return (await findSandboxes(deps)).workspaceBy === 'namespace';
}

/** Chooses the folder for `--cwd`; undefined if the client decides. */
export async function chooseProject(
  { cwd, machine }: ProcessAccess,
  client: Client | undefined,
  flags: EntryFlags,
  before: string | undefined,
  ask: Ask | undefined,
): Promise<string | undefined> {
  const isFixed = (flags.scope ?? client?.scope) === 'project' || client?.startsInProject === false;
  const proposed = before ?? (isFixed ? cwd : undefined);
  if (flags.project !== undefined) return toFolder(flags.project, cwd, machine.home);
  const fallback = `the working folder of ${client?.title ?? 'the client'}`;
  return ask === undefined
    ? proposed
    : ask.one(`Folder that commands run in [${proposed ?? fallback}]: `, (answer) =>
        answer === '' || answer === fallback ? proposed : toFolder(answer, cwd, machine.home),
      );
}

function givenFlags({ given }: Arguments, { config }: EntryFlags): readonly string[] {
  return [...given.flatMap(({ flags }) => flags), ...(config === undefined ? [] : ['--config'])];
}

/** The settings given as flags, as environment variables with the same effect. */
function toVariables({ given, cwd }: Arguments & ProcessAccess): Variables {
  return Object.fromEntries(
    given.flatMap(({ variable, text, kind }) => {
      const paths = kind === 'paths' ? text.split(',').flatMap((path) => path.trim() || []) : [text];
      const value = kind === 'other' ? text : paths.map((path) => resolve(cwd, path)).join(',');
      return variable === undefined ? [] : [[variable, value]];
    }),
  );
}

function toFolder(given: string, cwd: string, home: string): string {
  const folder = resolve(cwd, given.replace(/^~(?=\/|$)/, home));
  if (statSync(folder, { throwIfNoEntry: false })?.isDirectory()) return folder;
  throw new NacreError('invalid_request', `${folder} is not a folder.`, {
    hint: 'Name an existing folder; nothing was written.',
  });
}

function warnOfNpxCache(script: string): readonly string[] {
  if (!/[\\/]_npx[\\/]/.test(script)) return [];
  return [
    `The entry names ${script}, which npm may delete at any time. Install the package with npm install --global, then run nacre init again.`,
  ];
}
