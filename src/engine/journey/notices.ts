import type { Command } from '../../contract/command.ts';
import type { FoundProgram } from '../../contract/decision.ts';
import type { Outcome } from '../../contract/outcome.ts';
import type { CommandRequest } from '../../contract/request.ts';
import type { QueueWait } from '../../sessions/turn-queue.ts';
import { describeDeniedPrograms } from '../../support/describe-exec.ts';
import { describeProtected } from '../../support/describe-protected.ts';
import type { RunContext } from '../context/call-context.ts';
import type { EngineDeps } from '../context/engine-deps.ts';
import { networkHint } from '../network/network-hint.ts';
import { networkProgramsOf } from '../network/network-use.ts';
import { noteOutside, rememberShell } from './inspect-place.ts';
import type { StartedCommand } from './start.ts';

/** Sources of the notices that `withNotices` adds. */
export interface NoticeSources {
  readonly request: Pick<CommandRequest, 'command' | 'session'>;
  readonly command: Pick<StartedCommand, 'command' | 'decision' | 'notes'>;
  /** Sentences about audit records that could not be written. */
  readonly warnings: readonly string[];
  readonly call: Pick<RunContext, 'cwdRoots'> & { readonly wait: QueueWait };
}

/** Adds `wait`, `rewrittenCommand` and `warnings` to an outcome, and keeps the directory of its persistent shell. */
export async function withNotices(
  deps: EngineDeps,
  outcome: Outcome,
  { request, command, warnings, call }: NoticeSources,
): Promise<Outcome> {
  rememberShell(deps, request, outcome);
  const programs = noticesFor(command.decision.programs, outcome);
  const outside = await noteOutside(deps, request, call);
  return {
    ...outcome,
    wait: call.wait,
    rewrittenCommand: toRewritten(request.command, command.command),
    warnings: [
      ...outcome.warnings,
      ...describeDeniedPrograms(outcome.deniedPrograms ?? [], request.session !== undefined),
      ...describeProtected(outcome.protectedUse, outcome.cwd),
      ...(outcome.enforcement?.discardsTmp ? [tmpDiscarded] : []),
      ...noteNetwork(outcome, command),
      ...command.notes,
      ...programs,
      ...outside,
      ...warnings,
    ],
  };
}

const tmpDiscarded =
  'The /tmp of this command was its own, and was deleted when it ended: other commands of this connection run with another workspace in /tmp. Write to the working directory instead.';

function noteNetwork(outcome: Outcome, { command, decision }: NoticeSources['command']): readonly string[] {
  if (outcome.enforcement === null || outcome.enforcement.network === 'on') return [];
  return [networkHint(outcome, networkProgramsOf(command, decision.programs)) ?? []].flat();
}

function toRewritten(requested: Command, run: Command): string | undefined {
  const isChanged = requested.kind === 'shell' && run.kind === 'shell' && requested.script !== run.script;
  return isChanged ? run.script : undefined;
}

const processViewers = new Set([
  ...['ps', 'pgrep', 'top', 'kill', 'pkill', 'killall'],
  ...['lsof', 'fuser', 'ss', 'netstat'],
]);
const setuidPrograms = new Set([
  ...['sudo', 'su', 'doas', 'pkexec', 'passwd', 'newgrp'],
  ...['fusermount', 'fusermount3', 'mount', 'umount'],
]);

/** Sentences about programs that behave differently under `enforcement`, and about `kept` daemons. */
export function noticesFor(
  programs: readonly FoundProgram[],
  { enforcement, kept }: Pick<Outcome, 'enforcement' | 'kept'>,
): readonly string[] {
  if (enforcement === null) return [];
  const firstOf = (wanted: ReadonlySet<string>) =>
    programs.map(({ name }) => toBaseName(name)).find((name) => wanted.has(name));
  const viewer = enforcement.processes === 'own' ? firstOf(processViewers) : undefined;
  const setuid = enforcement.setuid ? undefined : firstOf(setuidPrograms);
  return [
    ...kept.map(({ pid, command }) => `${command} (pid ${pid}) keeps running until nacre exits (keep).`),
    ...(viewer
      ? [
          `${viewer} saw only processes that this command started (processes: own); processes: host shows all.`,
        ]
      : []),
    ...(setuid
      ? [
          enforcement.sandbox === 'off'
            ? `${setuid} cannot gain privileges here (processes: own, level ${enforcement.level}); processes: host allows it.`
            : `${setuid} cannot gain privileges here (sandbox: ${enforcement.sandbox}).`,
        ]
      : []),
  ];
}

function toBaseName(name: string): string {
  return name.slice(name.lastIndexOf('/') + 1);
}
