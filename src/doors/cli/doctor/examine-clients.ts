// Which clients have a configuration here, and whether what it says starts a nacre that is there.
import { existsSync, lstatSync } from 'node:fs';
import { isAbsolute } from 'node:path';
import { type Client, clients, type Scope } from '../../../clients/clients.ts';
import { openConfigFile } from '../../../clients/config-file.ts';
import { readEntry, type ServerEntry } from '../../../clients/server-entry.ts';
import { NacreError } from '../../../contract/failure.ts';
import type { Assembly } from '../../door.ts';
import { holdsNoSandbox } from '../holds-no-sandbox.ts';
import { toldBefore } from '../told-before.ts';
import { findOn } from './find-program.ts';
import type { Finding } from './finding.ts';

const scopes: readonly Scope[] = ['user', 'project'];

/** Looks at the configuration of every client that `nacre init` knows. */
export function examineClients(assembly: Assembly): readonly Finding[] {
  const findings = Object.entries(clients).flatMap(([name, client]) => examineClient(assembly, name, client));
  if (findings.some(({ status }) => status !== 'note')) return findings;
  const found = 'no client starts nacre yet';
  return [...findings, { check: 'clients', status: 'warning', found, fix: 'nacre init CLIENT' }];
}

function examineClient(assembly: Assembly, name: string, client: Client): readonly Finding[] {
  const here = { ...assembly.machine, project: assembly.cwd };
  return scopes.flatMap((scope) => {
    const path = client.file(scope, here);
    const isSame = scope === 'project' && path === client.file('user', here);
    if (path === undefined || isSame || !isThere(path)) return [];
    const fix = `nacre init ${name}${scope === client.scope ? '' : ` --scope ${scope}`}`;
    return [{ check: `client:${name}`, ...examineFile(assembly, client, path, fix) }];
  });
}

function examineFile(assembly: Assembly, client: Client, path: string, fix: string): Omit<Finding, 'check'> {
  const { title } = client;
  try {
    const entry = readEntry(openConfigFile(path).text, client, path);
    if (entry === undefined)
      return { status: 'note', found: `${title}: ${path} has no entry for nacre`, fix };
    if (entry.address !== undefined)
      return { status: 'ok', found: `${title}: ${path} leads to ${entry.address}` };
    const missing = missingOf(assembly, entry);
    if (missing !== undefined)
      return { status: 'warning', found: `${title}: ${path} names ${missing}, which does not exist`, fix };
    const { NACRE_SANDBOX: level, NACRE_WORKSPACE: workspace } = entry.env ?? {};
    const folder = toldBefore(entry, []).project;
    const isWorkspace = folder !== undefined && workspace === undefined;
    if (isWorkspace && holdsNoSandbox(folder, level, assembly.machine.home)) {
      const found = `${title}: ${path} names ${folder}, where the sandbox ${level} refuses every command`;
      return { status: 'warning', found, fix: `${fix} --project DIR` };
    }
    const isThis = entry.args?.includes(assembly.program.script) === true;
    const found = `${title}: ${path} starts ${isThis ? 'this nacre' : 'another copy of nacre'}`;
    return isThis ? { status: 'ok', found } : { status: 'note', found, fix };
  } catch (error) {
    if (!(error instanceof NacreError)) throw error;
    return { status: 'warning', found: `${title}: ${error.message}`, fix: error.hint };
  }
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
  { machine }: Assembly,
  { command = '', args = [] }: Partial<ServerEntry>,
): string | undefined {
  const isThere = isAbsolute(command)
    ? existsSync(command)
    : findOn(machine.env.PATH ?? '', command) !== undefined;
  if (!isThere) return command;
  const script = args.find((arg) => isAbsolute(arg) && arg.endsWith('.js'));
  const folder = args[args.indexOf('--cwd') + 1];
  const paths = [script, args.includes('--cwd') ? folder : undefined];
  return paths.find((one) => one !== undefined && !existsSync(one));
}
