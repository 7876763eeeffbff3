import { stricterChanges } from '../../contract/changes.ts';
import { NacreError } from '../../contract/failure.ts';
import type { JobSpec, Keeping } from '../../contract/job.ts';
import type { CommandRequest } from '../../contract/request.ts';
import { toIdentity, toRoomKey } from '../../contract/session-key.ts';
import { execListFor } from '../../policy/to-exec-list.ts';
import { noOwner, type Registration } from '../../sessions/command-registry.ts';
import type { JourneyContext, StartRequest } from '../context/call-context.ts';
import type { EngineDeps } from '../context/engine-deps.ts';
import { createLiveScreen, type LiveScreen } from '../reading/live-screen.ts';
import type { Admission } from './admit.ts';

/** An admitted command that `start` has started. */
export interface StartedCommand extends Admission {
  readonly id: string;
}

/** The request to start a command whose `input` is known. */
export function toStartRequest(request: CommandRequest): CommandRequest & StartRequest {
  const { input } = request;
  return { ...request, stdin: input === undefined ? 'empty' : { text: input } };
}

/** Starts an admitted command; throws a `NacreError` if that fails. It does not run unless its start was recorded. */
export async function start(
  deps: EngineDeps,
  request: StartRequest,
  admission: Admission,
  call: JourneyContext,
): Promise<StartedCommand> {
  const { backend, sessions } = deps;
  const { id } = call;
  const { stdin } = request;
  const spec = { ...toJobSpec(request, admission, call), keeping: toKeeping(deps, request, admission, call) };
  const screen = await createScreen(deps, request, admission);
  try {
    await sessions.prepare(spec, toRegistration(request, admission, call, screen), call.share);
    recordStart(deps, request, call, admission);
    await sessions.start(id);
  } catch (error) {
    await sessions.discard(id);
    throw error;
  }
  screen?.follow(id);
  // The write is not awaited, and its failure is not an error: a command may exit without reading its stdin.
  if (typeof stdin === 'object') backend.write(id, Buffer.from(stdin.text), { eof: true }).catch(() => {});
  return { ...admission, id };
}

function toJobSpec(request: StartRequest, admission: Admission, call: JourneyContext): JobSpec {
  const { on: machine, env = {}, stdin, timeoutMs, limits, terminal, session, beginsAs } = request;
  const { command, cwd, isolation } = admission;
  const { id, environment, owner, connection } = call;
  const room = call.room ?? (owner === undefined ? undefined : toRoomKey({ owner, connection }));
  return {
    ...{ id, machine, command, cwd, env, stdin: stdin === 'empty' ? stdin : 'open', timeoutMs, limits },
    ...{ isolation, environment, terminal, session, beginsAs, room, exec: execListFor(call.rules) },
    changes: {
      mode: stricterChanges(request.changes, admission.decision.changes),
      owner: owner ?? call.room,
      isLasting: call.inBackground === true || terminal !== undefined,
      asksUser: admission.toAsk !== undefined,
    },
  };
}

// Background commands and persistent shells are kept; a command in a persistent shell that a call waits for is not.
function toKeeping(
  { outlive }: EngineDeps,
  { name, session }: StartRequest,
  { judgedBy }: Admission,
  { caller, owner, connection, inBackground = false }: JourneyContext,
): Keeping | undefined {
  if (outlive?.mode !== 'use' || owner === undefined || !(inBackground || session !== undefined))
    return undefined;
  const identity = toIdentity({ caller, owner }, outlive.project);
  return { identity, room: toRoomKey({ owner, connection }), caller, name, outlives: inBackground, judgedBy };
}

function toRegistration(
  { name }: StartRequest,
  { inputJudge }: Admission,
  { owner = noOwner, connection, inBackground }: JourneyContext,
  screen: LiveScreen | undefined,
): Registration {
  return { owner, connection, name, inBackground, inputJudge, screen };
}

async function createScreen(
  { backend }: EngineDeps,
  { terminal }: StartRequest,
  { inputJudge }: Admission,
): Promise<LiveScreen | undefined> {
  if (!terminal) return undefined;
  if (inputJudge?.onlyListed) throw shellAtTerminal();
  return createLiveScreen(backend, terminal);
}

// If the command also has input, both records are written with one flush.
function recordStart(
  { audit }: EngineDeps,
  { stdin }: StartRequest,
  { id, caller }: JourneyContext,
  { cwd, machine }: Admission,
): void {
  const started = { kind: 'started', id, caller, cwd, machine } as const;
  if (typeof stdin === 'object') {
    audit.recordSoon(started);
    audit.record({ kind: 'input', id, caller, text: stdin.text, keys: [], eof: true, secret: false });
  } else {
    audit.record(started);
  }
}

function shellAtTerminal(): NacreError {
  const message =
    'A shell at a terminal is not allowed while only listed programs may run: its history, completion and editing cannot be judged.';
  return new NacreError('policy_denied', message, {
    hint: 'Start it without pty and type complete commands, or run each command by itself.',
  });
}
