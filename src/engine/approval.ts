import type { Decision } from '../contract/decision.ts';
import { NacreError } from '../contract/failure.ts';

/** What a person answered, or why nobody did. */
export type Answer = 'approved' | 'declined' | 'no_answer';

/** Asks a person; a door that can reach one brings it along. */
export type AskPerson = (decision: Decision) => Promise<Answer>;

/** Passes only when a person approves; a question that cannot be asked, or that nobody answers, is a denial. */
export async function approval(decision: Decision, ask: AskPerson | undefined): Promise<void> {
  const answer = (await ask?.(decision)) ?? 'cannot_ask';
  if (answer !== 'approved') throw refusals[answer](decision);
}

const refusals: Record<Exclude<Answer, 'approved'> | 'cannot_ask', (decision: Decision) => NacreError> = {
  cannot_ask: (decision) =>
    toError(
      'approval_required',
      decision,
      'Nobody can be asked from here. Nothing was run.',
      decision.remedy,
    ),
  no_answer: (decision) =>
    toError(
      'approval_required',
      decision,
      'Nobody answered in time, which counts as a denial. Nothing was run.',
    ),
  declined: (decision) => toError('policy_denied', decision, 'The user declined. Nothing was run.'),
};

/** A denial as the error that every door answers. */
export function refused(decision: Decision): NacreError {
  return toError('policy_denied', decision);
}

function toError(
  code: 'policy_denied' | 'approval_required',
  decision: Decision,
  note?: string,
  hint: string | undefined = decision.hint,
): NacreError {
  const { rule, program, node, remedy } = decision;
  const message = note === undefined ? decision.reason : `${decision.reason} ${note}`;
  return new NacreError(code, message, { hint, details: { rule, program, node, remedy } });
}
