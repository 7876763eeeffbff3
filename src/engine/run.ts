// The journey of one command, from request to outcome:
// 1. `admit` records the request, parses it, inspects the directory, applies the policy and asks the user where a rule says so
// 2. `start` prepares the process, records the start, starts it and writes its stdin
// 3. `follow` waits for the end, streams output and progress, and stops the command if the call is cancelled
// 4. `shapeOutcome` turns the output into text of bounded size; the outcome is recorded and gets its notices
//
// Output passes three layers on its way from the worker (backends/layers/stack-layers.ts): `hideTypedSecrets` and
// `maskOutput` cover secrets, `recordOutput` copies it to a recording. reading/live-screen.ts renders terminals.
//
// create-engine.ts calls `run` in turn for its persistent shell and records failures. A command that outlives its call
// has the same steps 1 and 2; `recordEnd` (journey/follow.ts) replaces the rest.
import type { Outcome } from '../contract/outcome.ts';
import type { CommandRequest } from '../contract/request.ts';
import { askAboutChanges } from './changes/ask-about-changes.ts';
import type { RunCall } from './context/call-context.ts';
import type { EngineDeps } from './context/engine-deps.ts';
import { admit } from './journey/admit.ts';
import { collectOutput } from './journey/collect-output.ts';
import { follow } from './journey/follow.ts';
import { withNotices } from './journey/notices.ts';
import { dryOutcome, shapeOutcome } from './journey/shape-outcome.ts';
import { type StartedCommand, start, toStartRequest } from './journey/start.ts';

/** Runs one command from request to outcome; throws a `NacreError` if it cannot run. */
export async function run(deps: EngineDeps, request: CommandRequest, call: RunCall): Promise<Outcome> {
  const { id, caller, dryRun } = call;
  const startRequest = toStartRequest(request);
  const admission = await admit(deps, startRequest, { ...call, asksAfter: true });
  if (dryRun) {
    deps.audit.tryRecord({ kind: 'skipped', id, caller, command: admission.command, reason: 'dry run' });
    return dryOutcome(id, admission);
  }
  const command = await start(deps, startRequest, admission, call);
  const ended = await followToOutcome(deps, command, request, call);
  const outcome = admission.toAsk ? await askAboutChanges(deps, ended, admission, call) : ended;
  const warnings = deps.audit.tryRecordSoon({ kind: 'finished', id, caller, outcome });
  return withNotices(deps, outcome, { request, command, warnings, call });
}

async function followToOutcome(
  deps: EngineDeps,
  { id, cwd }: StartedCommand,
  request: CommandRequest,
  call: RunCall,
): Promise<Outcome> {
  const { maxStreamBytes } = request;
  const collector = maxStreamBytes === undefined ? undefined : collectOutput(deps, id, maxStreamBytes);
  const onOutput = collector?.onOutput ?? call.onOutput;
  try {
    const state = await follow(deps, id, { ...call, onOutput });
    if (collector) return collector.toOutcome(state, cwd);
    return await shapeOutcome(deps.backend, state, { ...request, ...call, cwd });
  } finally {
    // `ended` comes after the output was read, because the backend may dispose of an ended job at any time.
    deps.sessions.ended(id);
  }
}
