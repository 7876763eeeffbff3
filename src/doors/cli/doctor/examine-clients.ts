// Checks which clients of `clients.ts` have a configuration here, and whether their entries start an existing nacre.
import { existsSync, lstatSync } from 'node:fs';
import { isAbsolute } from 'node:path';
import { type Client, type ClientMachine, clients, type Scope } from '../../../clients/clients.ts';
import { openConfigFile } from '../../../clients/config-file.ts';
import { findMissingConsents } from '../../../clients/find-consents.ts';
import { findConfigFile } from '../../../clients/find-entries.ts';
import { type FoundEntry, readEntry, type ServerEntry } from '../../../clients/server-entry.ts';
import { NacreError } from '../../../contract/failure.ts';
import type { ProcessAccess, SettingsAccess } from '../../door.ts';
import { findOnPath } from '../../find-program.ts';
import { namesWorkspace, refusesEveryCommand, valueInForce } from '../init/choose-sandbox.ts';
import { describeAllowed, listsNothing, parseEntry } from '../init/parse-entry.ts';
import type { Finding } from './finding.ts';

type ClientDeps = ProcessAccess & SettingsAccess;

const scopes: readonly Scope[] = ['user', 'project'];

/** Findings about all clients. */
export interface ExaminedClients {
  readonly findings: readonly Finding[];
  /** Whether any client's entry has an allow list. */
  readonly isListed: boolean;
}

/** Checks the configuration of every client that `nacre init` supports. */
export function examineClients(deps: ClientDeps): ExaminedClients {
  const examined = Object.entries(clients).flatMap(([name, client]) => examineClient(deps, name, client));
  const findings = examined.map(({ isListed: _, ...finding }) => finding);
  const isListed = examined.some((one) => one.isListed === true);
  if (findings.some(({ status }) => status !== 'note')) return { findings, isListed };
  const found = 'no client is configured to start nacre';
  const none: Finding = { check: 'clients', status: 'warning', found, fix: 'nacre init CLIENT' };
  return { findings: [...findings, none], isListed };
}

type Examined = Finding & { readonly isListed?: boolean };

function examineClient(deps: ClientDeps, name: string, client: Client): readonly Examined[] {
  const machine = { ...deps.machine, project: deps.cwd };
  return scopes.flatMap((scope) => {
    const path = findConfigFile(client, scope, machine);
    const isSame = scope === 'project' && path === findConfigFile(client, 'user', machine);
    if (path === undefined || isSame || !exists(path)) return [];
    const fix = `nacre init ${name}${scope === client.scope ? '' : ` --scope ${scope}`}`;
    const { found, ...examined } = examineFile(deps, client, path, fix);
    const entry: Examined = { check: `client:${name}`, ...examined, found: `${client.title}: ${found}` };
    return examined.status === 'ok' ? [entry, ...examineConsents(name, scope, machine, path)] : [entry];
  });
}

/** The consents that the client still asks of the user before it calls nacre. */
function examineConsents(
  name: string,
  scope: Scope,
  machine: ClientMachine,
  path: string,
): readonly Finding[] {
  return findMissingConsents(name, scope, machine, path).map(({ without, give }) => ({
    check: `consent:${name}`,
    status: 'note',
    found: without,
    fix: give,
  }));
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
  if (entry.address !== undefined)
    return { status: 'ok', found: `${path} connects to the address ${entry.address}` };
  const parsed = parseEntry(entry, []);
  const { project, env = {}, otherArgs } = parsed;
  const missing = findMissing(deps, entry, project);
  if (missing !== undefined)
    return { status: 'warning', found: `${path} names ${missing}, which does not exist`, fix };
  const { NACRE_SANDBOX: level = valueInForce(deps.settings, 'sandbox') } = env;
  const isWorkspace = project !== undefined && !namesWorkspace(deps.settings, parsed);
  if (isWorkspace && refusesEveryCommand(project, level, deps.machine.home)) {
    const found = `${path} names ${project}, where sandbox level ${level} refuses every command`;
    return { status: 'warning', found, fix: `${fix} --project DIR` };
  }
  if (entry.args?.includes(deps.program.script) !== true)
    return { status: 'note', found: `${path} starts another copy of nacre`, fix };
  const list = describeAllowed(env);
  const isElsewhere = deps.toolWarnings.length === 0 || [...otherArgs, ...Object.keys(env)].some(mayAllow);
  if (listsNothing(env) || (list === '' && !isElsewhere)) {
    const found = `${path} starts this nacre, but ${list === '' ? 'neither the entry nor your settings allow any program' : 'the list in the entry is empty, so no program may run'}`;
    return { status: 'warning', found, fix: `${fix} --preset NAME` };
  }
  const details = `${list || 'programs from your settings'}, sandbox ${level ?? 'off'}`;
  return { status: 'ok', found: `${path} starts this nacre: ${details}`, isListed: list !== '' };
}

// `--config` may name a file with a list, and other tool families need none (P12).
function mayAllow(word: string): boolean {
  return /^(--config|--tools|NACRE_TOOLS)/.test(word);
}

// If `lstat` fails, for example with EACCES, reading the file reports the error.
function exists(path: string): boolean {
  try {
    return lstatSync(path, { throwIfNoEntry: false }) !== undefined;
  } catch {
    return true;
  }
}

/** The first path in an entry that does not exist. */
function findMissing(
  { machine }: ProcessAccess,
  { command = '', args = [] }: Partial<ServerEntry>,
  project: string | undefined,
): string | undefined {
  const isInstalled = isAbsolute(command)
    ? existsSync(command)
    : findOnPath(machine.env.PATH ?? '', command) !== undefined;
  if (!isInstalled) return command;
  const script = args.find((arg) => isAbsolute(arg) && arg.endsWith('.js'));
  return [script, project].find((one) => one !== undefined && !existsSync(one));
}
