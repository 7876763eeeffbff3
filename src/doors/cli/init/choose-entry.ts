// Chooses the entry for nacre in a client's configuration. For each of folder, commands and sandbox: a flag decides;
// otherwise the value of the existing entry, or else a default, is proposed and, on a terminal, asked about.
import { statSync } from 'node:fs';
import { resolve } from 'node:path';
import type { Client, Scope } from '../../../clients/clients.ts';
import type { ServerEntry } from '../../../clients/server-entry.ts';
import { NacreError } from '../../../contract/failure.ts';
import type { Arguments, EngineAccess, ProcessAccess, SettingsAccess } from '../../door.ts';
import type { Ask } from './ask.ts';
import { chooseCommands } from './choose-commands.ts';
import { chooseSandbox } from './choose-sandbox.ts';
import { parseEntry } from './parse-entry.ts';

/** Dependencies of `chooseEntry`. */
export type EntryDeps = Arguments & EngineAccess & ProcessAccess & SettingsAccess;

/** The entry that `nacre init` writes. */
export interface ChosenEntry {
  readonly entry: ServerEntry;
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

/** Chooses the entry for a client; `existing` is its current one. */
export async function chooseEntry(
  deps: EntryDeps,
  client: Client | undefined,
  flags: EntryFlags,
  existing: Partial<ServerEntry> | undefined,
  ask: Ask | undefined,
): Promise<ChosenEntry> {
  const before = parseEntry(existing, givenFlags(deps, flags));
  const project = await chooseProject(deps, client, flags, before.project, ask);
  const fromFlags = toVariables(deps);
  const commands = await chooseCommands(deps, project ?? deps.cwd, fromFlags, before, ask);
  const sandbox = await chooseSandbox(deps, project, fromFlags, before, ask);
  const { ALLOWED_COMMANDS: _list, NACRE_PRESET: _preset, NACRE_SANDBOX: _box, ...others } = before.env ?? {};
  // ALLOWED_CWD_ROOTS is comma-separated, so a folder with a comma in its name cannot be listed.
  const isRoot = project !== undefined && !project.includes(',');
  const isOwnRoot = others.ALLOWED_CWD_ROOTS === undefined || others.ALLOWED_CWD_ROOTS === before.project;
  const roots = isRoot && isOwnRoot ? { ALLOWED_CWD_ROOTS: project } : {};
  const { node, script } = deps.program;
  const folder = project === undefined ? [] : ['--cwd', project];
  const file = flags.config === undefined ? [] : ['--config', resolve(deps.cwd, flags.config)];
  const env = { ...others, ...roots, ...commands, ...sandbox.variables, ...fromFlags };
  return {
    entry: { command: node, args: [script, 'mcp', ...folder, ...file, ...before.otherArgs], env },
    project,
    notes: [...sandbox.notes, ...warnOfNpxCache(script)],
  };
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
function toVariables({ given, cwd }: Arguments & ProcessAccess): Readonly<Record<string, string>> {
  return Object.fromEntries(
    given.flatMap(({ variable, text, kind }) => {
      const paths = kind === 'paths' ? text.split(/\s*,\s*/).filter((path) => path !== '') : [text];
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
