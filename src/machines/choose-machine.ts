import type { Caller } from '../contract/caller.ts';
import { NacreError } from '../contract/failure.ts';
import {
  localMachine,
  type MachineSettings,
  type Machines,
  type OfferedMachine,
} from '../contract/machine.ts';

/** The machines that a caller may use, this one first. */
export function offeredTo(
  machines: Machines,
  caller: Pick<Caller, 'door' | 'token'>,
): readonly OfferedMachine[] {
  const { others } = machines;
  const local = { name: localMachine, description: 'this machine' };
  return [
    ...(mayUseLocal(machines, caller) ? [local] : []),
    ...others.filter(({ tokens }) => isListed(tokens, caller)),
  ];
}

/** Returns the machine that a call runs on, or undefined for this machine. Throws if the caller may not use it. */
export function chooseMachine(
  machines: Machines,
  on: string | undefined,
  caller: Pick<Caller, 'door' | 'token'>,
): MachineSettings | undefined {
  const name = on ?? machines.defaultName;
  const offered = offeredTo(machines, caller).map((one) => one.name);
  if (!offered.includes(name)) throw notOffered(name, on !== undefined, offered);
  return machines.others.find((one) => one.name === name);
}

function mayUseLocal(
  { isLocalOffered, localTokens }: Machines,
  caller: Pick<Caller, 'door' | 'token'>,
): boolean {
  return caller.door === 'cli' || (isLocalOffered && isListed(localTokens, caller));
}

// A caller without a named `token` acts for the user who runs the server.
function isListed(tokens: readonly string[] | undefined, { token }: Pick<Caller, 'token'>): boolean {
  return tokens === undefined || token === undefined || tokens.includes(token);
}

function notOffered(name: string, isAsked: boolean, offered: readonly string[]): NacreError {
  const choices =
    offered.length === 0
      ? 'This caller may use no machine; add its token to tokens of a machine in the settings.'
      : `Use ${offered.join(' or ')}.`;
  return isAsked
    ? new NacreError('invalid_request', `on: no machine named ${name} is available to this caller.`, {
        hint: choices,
      })
    : new NacreError('policy_denied', `This caller may not use ${name}, which is the default machine.`, {
        hint: offered.length === 0 ? choices : `Set on to ${offered.join(' or ')}.`,
      });
}
