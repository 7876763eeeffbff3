// Lets an engine run commands on other machines: the machine of each call is chosen from `on` and the default, and the call gets
// the caller's rules there. The engine itself only passes the machine's name on to its backend.
import type { Caller } from '../contract/caller.ts';
import { NacreError } from '../contract/failure.ts';
import { localMachine, type Machines } from '../contract/machine.ts';
import type { CommandRequest } from '../contract/request.ts';
import { fromKeyOn, toKeyOn } from '../contract/session-key.ts';
import type { RunContext, StartRequest } from '../engine/context/call-context.ts';
import type { Engine } from '../engine/engine.ts';
import { chooseMachine } from '../machines/choose-machine.ts';

type Request = Pick<CommandRequest, 'on'> & Partial<Pick<StartRequest, 'session' | 'beginsAs'>>;
type Context = Pick<RunContext, 'rules' | 'cwdRoots' | 'rulesOn'> & Partial<Pick<RunContext, 'caller'>>;

/** An engine that chooses the machine of every command. */
export function withMachines(engine: Engine, machines: Machines | undefined): Engine {
  const place = <R extends Request, C extends Context>(request: R, context: C): readonly [R, C] =>
    machines ? placeOn(machines, request, context) : placeHere(request, context);
  return {
    ...engine,
    run: async (request, context) => engine.run(...place(request, context)),
    runOrDetach: async (request, context) => engine.runOrDetach(...place(request, context)),
    start: async (request, context) => engine.start(...place(request, context)),
    check: async (request, context) => engine.check(...place(request, context)),
  };
}

// Calls of doors that judge programs for the user have no caller.
const localUser: Caller = { door: 'cli', client: '' };

function placeOn<R extends Request, C extends Context>(
  machines: Machines,
  request: R,
  context: C,
): readonly [R, C] {
  const { defaultName } = machines;
  const session = toShell(machines, request.session);
  const beginsAs = toShell(machines, request.beginsAs);
  const on = request.on ?? session?.machine ?? beginsAs?.machine;
  const machine = chooseMachine(machines, on, context.caller ?? localUser);
  const name = machine?.name ?? localMachine;
  const toKey = (shell: Shell | undefined) => {
    if (shell?.machine !== undefined && shell.machine !== name) throw otherMachine(shell, name);
    return shell && (name === defaultName ? shell.key : toKeyOn(shell.key, name));
  };
  const placed = { ...request, on: machine?.name, session: toKey(session), beginsAs: toKey(beginsAs) };
  if (!machine) return [placed, context];
  if (!context.rulesOn) throw new Error(`there are no rules for ${name}`);
  return [placed, { ...context, ...context.rulesOn(machine) }];
}

/** A persistent shell by its key without the name of a machine. */
interface Shell {
  readonly key: string;
  readonly machine?: string | undefined;
}

function toShell({ others }: Machines, key: string | undefined): Shell | undefined {
  if (key === undefined) return undefined;
  return fromKeyOn(key, [localMachine, ...others.map(({ name }) => name)]) ?? { key };
}

function otherMachine({ machine }: Shell, on: string): NacreError {
  return new NacreError('invalid_request', `This persistent shell is on ${machine}, but on is ${on}.`, {
    hint: `Set on to ${machine}, or use another shell.`,
  });
}

function placeHere<R extends Request, C extends Context>(request: R, context: C): readonly [R, C] {
  if (request.on === undefined) return [request, context];
  if (request.on === localMachine) return [{ ...request, on: undefined }, context];
  throw new NacreError('invalid_request', `on: there is no machine ${request.on}.`, {
    hint: 'The settings have no machines. Omit on, or add the machine to machines.',
  });
}
