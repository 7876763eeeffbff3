// What the entry for nacre is to say. For each of folder, commands and sandbox: a flag decides; else what the entry says
// already or a default is proposed, and on a terminal asked about.
import { statSync } from 'node:fs';
import { resolve } from 'node:path';
import type { Client, Scope } from '../../../clients/clients.ts';
import type { ServerEntry } from '../../../clients/server-entry.ts';
import { NacreError } from '../../../contract/failure.ts';
import type { Arguments, EngineAccess, ProcessAccess, SettingsAccess } from '../../door.ts';
import type { Ask } from './ask.ts';
import { chooseCommands } from './choose-commands.ts';
import { chooseSandbox } from './choose-sandbox.ts';
import { toldBefore } from './parse-entry.ts';

/** What `nacre init` needs to choose an entry. */
export type EntryDeps = Arguments & EngineAccess & ProcessAccess & SettingsAccess;

/** What was chosen. */
export interface Choices {
  readonly entry: ServerEntry;
  /** The folder that commands run in; undefined for wherever the client starts nacre. */
  readonly project: string | undefined;
  /** What whoever chose should know. */
  readonly notes: readonly string[];
}

/** What can be given in place of answers. */
export interface Given {
  readonly scope?: Scope | undefined;
  readonly project?: string | undefined;
  /** A settings file in place of the user's. */
  readonly config?: string | undefined;
}

/** Chooses what a client is to be told; `entry` is what it is told now. */
export async function chooseEntry(
  deps: EntryDeps,
  client: Client | undefined,
  given: Given,
  entry: Partial<ServerEntry> | undefined,
  ask: Ask | undefined,
): Promise<Choices> {
  const before = toldBefore(entry, anewOf(deps, given));
  const project = await chooseProject(deps, client, given, before.project, ask);
  const flagged = variablesOf(deps);
  const commands = await chooseCommands(deps, project ?? deps.cwd, flagged, before, ask);
  const sandbox = await chooseSandbox(deps, project, flagged, before, ask);
  const { ALLOWED_COMMANDS: _list, NACRE_PRESET: _preset, NACRE_SANDBOX: _box, ...others } = before.env ?? {};
  // A comma would make two folders of one.
  const isRoot = project !== undefined && !project.includes(',');
  const isOwnRoot = others.ALLOWED_CWD_ROOTS === undefined || others.ALLOWED_CWD_ROOTS === before.project;
  const roots = isRoot && isOwnRoot ? { ALLOWED_CWD_ROOTS: project } : {};
  const { node, script } = deps.program;
  const folder = project === undefined ? [] : ['--cwd', project];
  const file = given.config === undefined ? [] : ['--config', resolve(deps.cwd, given.config)];
  const env = { ...others, ...roots, ...commands, ...sandbox.variables, ...flagged };
  return {
    entry: { command: node, args: [script, 'mcp', ...folder, ...file, ...before.more], env },
    project,
    notes: [...sandbox.notes, ...noteOfCache(script)],
  };
}

/** Chooses the folder that commands run in; undefined for wherever the client starts nacre. */
export async function chooseProject(
  { cwd, machine }: ProcessAccess,
  client: Client | undefined,
  given: Given,
  before: string | undefined,
  ask: Ask | undefined,
): Promise<string | undefined> {
  const isFixed = (given.scope ?? client?.scope) === 'project' || client?.startsInProject === false;
  const proposed = before ?? (isFixed ? cwd : undefined);
  if (given.project !== undefined) return toFolder(given.project, cwd, machine.home);
  const fallback = `where ${client?.title ?? 'the client'} works`;
  return ask === undefined
    ? proposed
    : ask.one(`Folder that commands run in [${proposed ?? fallback}]: `, (answer) =>
        answer === '' || answer === fallback ? proposed : toFolder(answer, cwd, machine.home),
      );
}

/** The flags whose settings are given now. */
function anewOf({ given }: Arguments, { config }: Given): readonly string[] {
  return [...given.flatMap(({ flags }) => flags), ...(config === undefined ? [] : ['--config'])];
}

/** The settings that were given as flags, as the variables that say the same. */
function variablesOf({ given, cwd }: Arguments & ProcessAccess): Readonly<Record<string, string>> {
  return Object.fromEntries(
    given.flatMap(({ variable, text, kind }) => {
      const paths = kind === 'paths' ? text.split(/\s*,\s*/).filter((path) => path !== '') : [text];
      const whole = kind === 'other' ? text : paths.map((path) => resolve(cwd, path)).join(',');
      return variable === undefined ? [] : [[variable, whole]];
    }),
  );
}

function toFolder(given: string, cwd: string, home: string): string {
  const folder = resolve(cwd, given.replace(/^~(?=\/|$)/, home));
  if (statSync(folder, { throwIfNoEntry: false })?.isDirectory()) return folder;
  throw new NacreError('invalid_request', `${folder} is no folder.`, {
    hint: 'Name one that exists; nothing was written.',
  });
}

function noteOfCache(script: string): readonly string[] {
  if (!/[\\/]_npx[\\/]/.test(script)) return [];
  return [
    `The entry names ${script}, which npm may delete: install the same package with npm install --global, and run nacre init again.`,
  ];
}
