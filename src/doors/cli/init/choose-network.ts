import { registriesOf } from '../../../clients/project-defaults.ts';
import { NacreError } from '../../../contract/failure.ts';
import type { Ask } from '../../ask.ts';
import {
  type Choice,
  type FileValues,
  fileVariables,
  fromFile,
  splitNames,
  type Variables,
} from './choice.ts';
import type { ParsedEntry } from './parse-entry.ts';

/** The answers before this question, on which its proposal depends. */
export interface NetworkContext {
  readonly file: FileValues;
  readonly programs: Choice;
  /** Whether the chosen sandbox can limit commands to some hosts. */
  readonly canFilter: boolean;
}

/** Chooses the hosts that commands in a sandbox can reach, as NACRE_NETWORK_ALLOW; proposes the package registries. */
export async function chooseNetwork(
  context: NetworkContext,
  fromFlags: Variables,
  before: ParsedEntry,
  ask: Ask | undefined,
): Promise<Choice> {
  const stated = pick(fromFlags);
  if (Object.keys(stated).length > 0) return { variables: stated, from: 'stated' };
  const kept = pick(before.env ?? {});
  if (Object.keys(kept).length > 0) return { variables: kept, from: 'kept' };
  const hosts = context.canFilter ? proposeHosts(context) : [];
  if (hosts.length === 0) return fromFile;
  const proposed: Choice = { variables: toVariables(hosts), from: context.programs.from };
  if (ask === undefined) return proposed;
  return ask.one(
    `Hosts that commands can reach, for packages and git; none for no network [${hosts.join(', ')}]: `,
    (answer) => {
      if (answer === '') return proposed;
      return { variables: toVariables(answer === 'none' ? [] : toHosts(answer)), from: 'stated' };
    },
  );
}

/** The registries for the chosen preset, besides the hosts in the settings file; none if the file decides. */
function proposeHosts({ file, programs }: NetworkContext): readonly string[] {
  const registries = registriesOf(programs.variables.NACRE_PRESET);
  const own = splitNames(fileVariables(file).NACRE_NETWORK_ALLOW ?? '');
  // The user chose an existing list of programs without these hosts, so they are proposed only with a new list.
  if (programs.from === 'file' || programs.from === 'kept') return [];
  if (file.network !== undefined || registries.every((host) => own.includes(host))) return [];
  // A list in the file is the user's decision; only a new preset is a reason to propose more.
  if (file.network_allow !== undefined && (programs.from !== 'stated' || own.length === 0)) return [];
  return [...new Set([...own, ...registries])];
}

function pick({ NACRE_NETWORK: network, NACRE_NETWORK_ALLOW: hosts }: Partial<Variables>): Variables {
  return {
    ...(network !== undefined && { NACRE_NETWORK: network }),
    ...(hosts !== undefined && { NACRE_NETWORK_ALLOW: hosts }),
  };
}

function toVariables(hosts: readonly string[]): Variables {
  return { NACRE_NETWORK_ALLOW: hosts.join(',') };
}

function toHosts(answer: string): readonly string[] {
  const hosts = splitNames(answer);
  const wrong = hosts.find((host) => !/^(?:\*\.)?[\w-]+(?:\.[\w-]+)+(?::(?:\d{1,5}|\*))?$/.test(host));
  if (wrong === undefined) return hosts;
  throw new NacreError('invalid_request', `${wrong} is not the name of a host.`, {
    hint: 'Name hosts such as registry.npmjs.org or *.example.com, separated by commas, or none.',
  });
}
