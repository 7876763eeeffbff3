// Which clients have a configuration here, and whether what it says starts a nacre that is there.
import { existsSync, lstatSync } from 'node:fs';
import { isAbsolute } from 'node:path';
import { type Client, clients, type Scope } from '../../../clients/clients.ts';
import { openConfigFile } from '../../../clients/config-file.ts';
import { type FoundEntry, readEntry, type ServerEntry } from '../../../clients/server-entry.ts';
import { NacreError } from '../../../contract/failure.ts';
import type { ProcessAccess, SettingsAccess } from '../../door.ts';
import { holdsNoSandbox, namesWorkspace } from '../init/choose-sandbox.ts';
import { listsNothing, toListWords, toldBefore } from '../init/parse-entry.ts';
import { findOn } from './find-program.ts';
import type { Finding } from './finding.ts';

type ClientDeps = ProcessAccess & SettingsAccess;

const scopes: readonly Scope[] = ['user', 'project'];

/** What was found of clients. */
export interface ExaminedClients {
  readonly findings: readonly Finding[];
  /** Whether the entry of one of them lists programs. */
  readonly isListed: boolean;
}

/** Looks at the configuration of every client that `nacre init` knows. */
export function examineClients(deps: ClientDeps): ExaminedClients {
  const examined = Object.entries(clients).flatMap(([name, client]) => examineClient(deps, name, client));
  const findings = examined.map(({ isListed: _, ...finding }) => finding);
  const isListed = examined.some((one) => one.isListed === true);
  if (findings.some(({ status }) => status !== 'note')) return { findings, isListed };
  const found = 'no client starts nacre yet';
  const none: Finding = { check: 'clients', status: 'warning', found, fix: 'nacre init CLIENT' };
  return { findings: [...findings, none], isListed };
}

type Examined = Finding & { readonly isListed?: boolean };

function examineClient(deps: ClientDeps, name: string, client: Client): readonly Examined[] {
  const here = { ...deps.machine, project: deps.cwd };
  return scopes.flatMap((scope) => {
    const path = client.file(scope, here);
    const isSame = scope === 'project' && path === client.file('user', here);
    if (path === undefined || isSame || !isThere(path)) return [];
    const fix = `nacre init ${name}${scope === client.scope ? '' : ` --scope ${scope}`}`;
    const { found, ...examined } = examineFile(deps, client, path, fix);
    return [{ check: `client:${name}`, ...examined, found: `${client.title}: ${found}` }];
  });
}

function examineFile(deps: ClientDeps, client: Client, path: string, fix: string): Omit<Examined, 'check'> {
  try {
    const entry = readEntry(openConfigFile(path).text, client, path);
    if (entry === undefined) return { status: 'note', found: `${path} has no entry for nacre`, fix };
    return examineEntry(deps, entry, path, fix);
  } catch (error) {
    if (!(error instanceof NacreError)) throw error;
    return { status: 'warning', found: error.message, fix: error.hint };
  }
}

function examineEntry(
  deps: ClientDeps,
  entry: FoundEntry,
  path: string,
  fix: string,
): Omit<Examined, 'check'> {
  if (entry.address !== undefined) return { status: 'ok', found: `${path} leads to ${entry.address}` };
  const told = toldBefore(entry, []);
  const { project, env = {}, more } = told;
  const missing = missingOf(deps, entry, project);
  if (missing !== undefined)
    return { status: 'warning', found: `${path} names ${missing}, which does not exist`, fix };
  const { NACRE_SANDBOX: level } = env;
  const isWorkspace = project !== undefined && !namesWorkspace(deps.settings, told);
  if (isWorkspace && holdsNoSandbox(project, level, deps.machine.home)) {
    const found = `${path} names ${project}, where the sandbox ${level} refuses every command`;
    return { status: 'warning', found, fix: `${fix} --project DIR` };
  }
  if (entry.args?.includes(deps.program.script) !== true)
    return { status: 'note', found: `${path} starts another copy of nacre`, fix };
  const list = toListWords(env);
  const isElsewhere = deps.toolWarnings.length === 0 || [...more, ...Object.keys(env)].some(mayList);
  if (listsNothing(env) || (list === '' && !isElsewhere)) {
    const found = `${path} starts this nacre, and ${list === '' ? 'neither it nor your settings list a' : 'its own list has no'} program that may run`;
    return { status: 'warning', found, fix: `${fix} --preset NAME` };
  }
  const words = `${list || 'the programs of your settings'}, sandbox ${level ?? 'as in your settings'}`;
  return { status: 'ok', found: `${path} starts this nacre: ${words}`, isListed: list !== '' };
}

// A settings file of the entry's own, or tools that need no list.
function mayList(word: string): boolean {
  return /^(--config|--tools|NACRE_TOOLS)/.test(word);
}

// What cannot even be looked at is told by the attempt to read it.
function isThere(path: string): boolean {
  try {
    return lstatSync(path, { throwIfNoEntry: false }) !== undefined;
  } catch {
    return true;
  }
}

/** The first path of an entry that leads nowhere. */
function missingOf(
  { machine }: ProcessAccess,
  { command = '', args = [] }: Partial<ServerEntry>,
  project: string | undefined,
): string | undefined {
  const isThere = isAbsolute(command)
    ? existsSync(command)
    : findOn(machine.env.PATH ?? '', command) !== undefined;
  if (!isThere) return command;
  const script = args.find((arg) => isAbsolute(arg) && arg.endsWith('.js'));
  return [script, project].find((one) => one !== undefined && !existsSync(one));
}
