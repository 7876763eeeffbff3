// What the entry for nacre is to say. For each of folder, commands and sandbox: a flag decides; else what the entry says
// already or a default is proposed, and on a terminal asked about.
import { existsSync, statSync } from 'node:fs';
import { join, resolve } from 'node:path';
import type { Client, Scope } from '../../clients/clients.ts';
import type { ServerEntry } from '../../clients/server-entry.ts';
import { NacreError } from '../../contract/failure.ts';
import { nearest } from '../../settings/nearest.ts';
import type { Assembly, SettingInForce } from '../door.ts';
import type { Ask } from './ask.ts';
import { holdsNoSandbox } from './holds-no-sandbox.ts';
import { type Told, toldBefore } from './told-before.ts';

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
  assembly: Assembly,
  client: Client | undefined,
  given: Given,
  entry: Partial<ServerEntry> | undefined,
  ask: Ask | undefined,
): Promise<Choices> {
  const before = toldBefore(entry, anewOf(assembly, given));
  const project = await chooseProject(assembly, client, given, before.project, ask);
  const flagged = variablesOf(assembly);
  const commands = await chooseCommands(assembly, project ?? assembly.cwd, flagged, before, ask);
  const sandbox = await chooseSandbox(assembly, project, flagged, before, ask);
  const { ALLOWED_COMMANDS: _list, NACRE_PRESET: _preset, NACRE_SANDBOX: _box, ...others } = before.env ?? {};
  // A comma would make two folders of one.
  const isRoot = project !== undefined && !project.includes(',');
  const isOwnRoot = others.ALLOWED_CWD_ROOTS === undefined || others.ALLOWED_CWD_ROOTS === before.project;
  const roots = isRoot && isOwnRoot ? { ALLOWED_CWD_ROOTS: project } : {};
  const { node, script } = assembly.program;
  const folder = project === undefined ? [] : ['--cwd', project];
  const file = given.config === undefined ? [] : ['--config', resolve(assembly.cwd, given.config)];
  const env = { ...others, ...roots, ...commands, ...sandbox.variables, ...flagged };
  return {
    entry: { command: node, args: [script, 'mcp', ...folder, ...file, ...before.more], env },
    project,
    notes: [...sandbox.notes, ...noteOfCache(script)],
  };
}

/** Chooses the folder that commands run in; undefined for wherever the client starts nacre. */
export async function chooseProject(
  { cwd, machine }: Assembly,
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

async function chooseCommands(
  { settings, presets }: Assembly,
  folder: string,
  flagged: Readonly<Record<string, string>>,
  before: Told,
  ask: Ask | undefined,
): Promise<Readonly<Record<string, string>>> {
  if (flagged.ALLOWED_COMMANDS !== undefined || flagged.NACRE_PRESET !== undefined) return {};
  const { ALLOWED_COMMANDS: list, NACRE_PRESET: preset } = before.env ?? {};
  const kept = {
    ...(list !== undefined && { ALLOWED_COMMANDS: list }),
    ...(preset && { NACRE_PRESET: preset }),
  };
  // An entry that lists nothing would let nothing run.
  const suggested = isInFile(settings, 'allowed_commands') ? {} : { NACRE_PRESET: suggestPreset(folder) };
  const proposed = Object.keys(kept).length === 0 ? suggested : kept;
  const words = Object.values(proposed).join(' and ') || 'as your settings file says';
  if (ask === undefined) return proposed;
  const question = `Programs that may run, a comma list, * or one of ${presets.join(', ')} [${words}]: `;
  return ask.one(question, (answer) => {
    if (answer === '' || answer === words) return proposed;
    return presets.includes(answer)
      ? { NACRE_PRESET: answer }
      : { ALLOWED_COMMANDS: toList(answer, presets) };
  });
}

async function chooseSandbox(
  assembly: Assembly,
  project: string | undefined,
  flagged: Readonly<Record<string, string>>,
  before: Told,
  ask: Ask | undefined,
): Promise<{ variables: Readonly<Record<string, string>>; notes: readonly string[] }> {
  const checked = (level: string | undefined) => {
    const isWorkspace = project !== undefined && namesNoWorkspace(assembly, flagged, before);
    if (isWorkspace && holdsNoSandbox(project, level, assembly.machine.home)) throw tooWide(project, level);
    return level;
  };
  if (flagged.NACRE_SANDBOX !== undefined) {
    checked(flagged.NACRE_SANDBOX);
    return { variables: {}, notes: [] };
  }
  const level = before.env?.NACRE_SANDBOX;
  const isKept = before.env !== undefined || isInFile(assembly.settings, 'sandbox');
  const can = isKept || (await canIsolate(assembly));
  const proposed = isKept ? level : can ? 'workspace' : 'off';
  const words = proposed ?? 'as your settings file says';
  const chosen =
    ask === undefined
      ? checked(proposed)
      : await ask.one(
          `Sandbox: off, workspace (writes only in the folder, no network) or strict [${words}]: `,
          (answer) => checked(answer === '' || answer === words ? proposed : toLevel(answer)),
        );
  const note =
    'There is no sandbox here: nacre doctor tells what it needs, and nacre init --sandbox workspace turns it on then.';
  return { variables: chosen === undefined ? {} : { NACRE_SANDBOX: chosen }, notes: can ? [] : [note] };
}

function tooWide(folder: string, level: string | undefined): NacreError {
  return new NacreError(
    'invalid_request',
    `The sandbox ${level} would refuse every command in ${folder}, which is the home directory or one of the system's own. Choose a project folder (--project), or off.`,
    { hint: 'Nothing was written: run nacre init again with one of them.' },
  );
}

/** Whether the folder itself is what stays writable in a sandbox. */
function namesNoWorkspace(
  { settings }: Assembly,
  flagged: Readonly<Record<string, string>>,
  { env = {}, more }: Told,
): boolean {
  const isNamed = [flagged, env].some(({ NACRE_WORKSPACE: named }) => named !== undefined);
  return !isNamed && !isInFile(settings, 'workspace') && !more.some((word) => word.startsWith('--workspace'));
}

async function canIsolate({ engine }: Assembly): Promise<boolean> {
  try {
    return (await (await engine()).report()).supervision === 'namespace';
  } catch {
    return false;
  }
}

function isInFile(settings: Assembly['settings'], wanted: string): boolean {
  return settings.some(
    ({ key, origin: { source, outranked = [] } }) =>
      key === wanted && [source, ...outranked.map((other) => other.source)].includes('user'),
  );
}

/** What a folder holds tells which programs its work needs. */
function suggestPreset(folder: string): string {
  const has = (...names: readonly string[]) => names.some((name) => existsSync(join(folder, name)));
  if (has('package.json')) return 'dev-node';
  if (has('pyproject.toml', 'requirements.txt', 'setup.py')) return 'dev-python';
  return has('.git') ? 'git' : 'read-only';
}

/** The flags that are given now. */
function anewOf({ settings }: Assembly, { config }: Given): readonly string[] {
  const own = settings.flatMap(({ origin }) => (origin.source === 'flag' ? [origin.where] : []));
  return config === undefined ? own : [...own, '--config'];
}

/** The settings that were given as flags, as the variables that say the same. */
function variablesOf({ settings, cwd }: Assembly): Readonly<Record<string, string>> {
  const own = settings.filter(({ origin, variable }) => origin.source === 'flag' && variable !== undefined);
  return Object.fromEntries(
    own
      // What a preset gives comes with the preset.
      .filter(({ origin }) => origin.givenBy === undefined || origin.where !== '--preset')
      .map((setting) => [setting.variable, toText(setting, cwd)]),
  );
}

function toText({ value, isPath }: SettingInForce, cwd: string): string {
  const items = (Array.isArray(value) ? value : [value]).map(String);
  return items.map((item) => (isPath ? resolve(cwd, item) : item)).join(',');
}

function toFolder(given: string, cwd: string, home: string): string {
  const folder = resolve(cwd, given.replace(/^~(?=\/|$)/, home));
  if (statSync(folder, { throwIfNoEntry: false })?.isDirectory()) return folder;
  throw new NacreError('invalid_request', `${folder} is no folder.`, {
    hint: 'Name one that exists; nothing was written.',
  });
}

function toList(answer: string, presets: readonly string[]): string {
  refuseNearlyPreset(answer, presets);
  const names = answer.split(/[\s,]+/).filter((name) => name !== '');
  if (names.length > 0) return names.join(',');
  throw new NacreError('invalid_request', `${JSON.stringify(answer)} names no program.`, {
    hint: 'Name programs with commas between them, or * for all.',
  });
}

// Taken as a program, a slip of the pen would leave an agent with nothing that runs. The names of programs are short, too.
function refuseNearlyPreset(answer: string, presets: readonly string[]): void {
  const long = presets.filter((name) => name.length > 4);
  const meant = answer.includes(',') ? undefined : nearest(answer.replace(/[\s_]+/g, '-'), long);
  if (meant === undefined) return;
  throw new NacreError('invalid_request', `${answer} is no preset; ${meant} is one.`, {
    hint: 'Put a comma after the name of a program.',
  });
}

function toLevel(answer: string): string {
  if (['off', 'workspace', 'strict'].includes(answer)) return answer;
  throw new NacreError('invalid_request', `${answer} is none of off, workspace and strict.`, {
    hint: 'Choose one of them.',
  });
}

function noteOfCache(script: string): readonly string[] {
  if (!/[\\/]_npx[\\/]/.test(script)) return [];
  return [
    `The entry names ${script}, which npm may delete: install the same package with npm install --global, and run nacre init again.`,
  ];
}
