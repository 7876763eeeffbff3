import type { Command } from '../../contract/command.ts';
import type { Outcome } from '../../contract/outcome.ts';
import type { Wait } from '../../sessions/turn-queue.ts';
import type { EngineParts, RunContext } from '../run.ts';
import type { Admission } from './admit.ts';
import { noteOutside } from './inspect-place.ts';
import { noticesFor } from './notices.ts';

/** What a command went through before and after it ran. */
export interface Circumstances {
  readonly wait: Wait;
  /** The command as it was asked for, and as it was run. */
  readonly asked: Command;
  readonly command: Command;
  readonly session: string | undefined;
  readonly admission: Pick<Admission, 'decision' | 'notes'>;
  /** What went wrong with its records. */
  readonly recorded: readonly string[];
}

/** An outcome with what its caller should know beside it. */
export async function withCircumstances(
  parts: EngineParts,
  outcome: Outcome,
  { wait, asked, command, session, admission, recorded }: Circumstances,
  context: Pick<RunContext, 'cwdRoots'>,
): Promise<Outcome> {
  const notices = noticesFor(admission.decision.programs, outcome);
  const outside = await noteOutside(parts, session, context);
  return {
    ...outcome,
    wait,
    rewrittenCommand: toRewritten(asked, command),
    warnings: [...outcome.warnings, ...admission.notes, ...notices, ...outside, ...recorded],
  };
}

function toRewritten(asked: Command, run: Command): string | undefined {
  const isChanged = asked.kind === 'shell' && run.kind === 'shell' && asked.script !== run.script;
  return isChanged ? run.script : undefined;
}
