import type { Caller } from '../../contract/caller.ts';
import type { Command } from '../../contract/command.ts';
import type { Decision } from '../../contract/decision.ts';
import { NacreError } from '../../contract/failure.ts';

/** What a person is to decide about. An approval holds for exactly this. */
export interface Asked {
  /** What would run; what is typed into a shell is one, too. */
  readonly command: Command;
  /** The canonical directory. */
  readonly cwd: string;
  readonly env: Readonly<Record<string, string>>;
  /** What it would read from its stdin. */
  readonly input: string | null;
  /** The persistent shell or the running command that it goes to. */
  readonly into: string | null;
  readonly sandbox: string | null;
}

/** A question, and who makes it necessary. */
export interface Question {
  readonly decision: Decision;
  readonly asked: Asked;
  /** The command's id in the audit log. */
  readonly id: string;
  readonly caller: Caller;
  readonly owner: string | undefined;
  readonly signal: AbortSignal | undefined;
}

/** What a person answered, or why nobody did. */
export type Answer =
  /** `by` says who, where it is not simply the user of the client. */
  | { readonly kind: 'approved'; readonly by?: string | undefined }
  | { readonly kind: 'declined' }
  | { readonly kind: 'no_answer' }
  | { readonly kind: 'waits'; readonly approvalId: string; readonly secondsLeft: number }
  | { readonly kind: 'cannot_ask'; readonly why: string };

/** Asks a person; a door that can reach one brings it along. */
export type AskPerson = (question: Question) => Promise<Answer>;

/** Passes only when a person approves; a question that cannot be asked, or that nobody answers, is a denial. */
export async function approval(
  question: Question,
  ask: AskPerson = cannotAsk,
): Promise<Extract<Answer, { readonly kind: 'approved' }>> {
  const answer = await ask(question);
  if (answer.kind === 'approved') return answer;
  throw toRefusal(question.decision, answer);
}

const cannotAsk: AskPerson = async () => ({ kind: 'cannot_ask', why: 'Nobody can be asked from here.' });

function toRefusal(decision: Decision, answer: Exclude<Answer, { readonly kind: 'approved' }>): NacreError {
  switch (answer.kind) {
    case 'declined':
      return toError(
        'policy_denied',
        decision,
        'The user declined. Nothing was run.',
        decision.hint ?? 'Do not make this call again; ask the user what to do instead.',
      );
    case 'no_answer':
      return toError(
        'approval_required',
        decision,
        'Nobody answered in time, which counts as a denial. Nothing was run.',
        decision.hint ?? 'Ask the user to be there, then make the same call again.',
      );
    case 'cannot_ask':
      return toError(
        'approval_required',
        decision,
        `${answer.why} Nothing was run.`,
        decision.remedy ?? 'Ask the user to run it, or to allow it.',
      );
    case 'waits': {
      const { approvalId, secondsLeft } = answer;
      const note = `It waits for the user's approval as ${approvalId}. Nothing was run.`;
      const hint = `Ask the user to run "nacre approvals approve ${approvalId}" in another terminal within ${secondsLeft} s, then make the same call again: it waits a while for the answer.`;
      return toError('approval_required', decision, note, hint);
    }
  }
}

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
