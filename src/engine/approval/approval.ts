import type { AuditLog } from '../../audit/audit-log.ts';
import type { Caller } from '../../contract/caller.ts';
import type { CommandChanges } from '../../contract/changes.ts';
import type { Command } from '../../contract/command.ts';
import type { Decision } from '../../contract/decision.ts';
import { NacreError } from '../../contract/failure.ts';

/** The subject of a user's decision; an approval is valid for exactly these values. */
export interface ApprovalSubject {
  /** The command that would run, or the text that would be typed into a shell. */
  readonly command: Command;
  /** The machine that it would run on; this one if absent. */
  readonly on?: string | undefined;
  readonly cwd: string;
  readonly env: Readonly<Record<string, string>>;
  /** The text on its stdin. */
  readonly input: string | null;
  /** `session` key of the shell that would run it, or id of the command that would read it. */
  readonly into: string | null;
  readonly sandbox: string | null;
  /** The changes that the command has made, if it ran while they are held. */
  readonly changes?: CommandChanges | undefined;
}

/** A `Decision` that needs the user's answer, and the call that waits for it. */
export interface ApprovalRequest {
  readonly decision: Decision;
  readonly asked: ApprovalSubject;
  readonly id: string;
  readonly caller: Caller;
  readonly owner: string | undefined;
  readonly connection?: string | undefined;
  readonly signal: AbortSignal | undefined;
  /** The changes that the command has made, if it ran while they are held; an approval applies them. */
  readonly changes?: CommandChanges | undefined;
  /** Handles an answer that arrives when no call waits for it any more; if absent, a repeated call uses the answer. */
  readonly onLateAnswer?: ((kind: 'approved' | 'declined') => void) | undefined;
}

/** The user's answer, or the reason why there is none. */
export type ApprovalAnswer =
  /** `by` names the user if they answered outside of the client. */
  | { readonly kind: 'approved'; readonly by?: string | undefined; readonly note?: string | undefined }
  | { readonly kind: 'declined'; readonly note?: string | undefined }
  | { readonly kind: 'no_answer' }
  | { readonly kind: 'waits'; readonly approvalId: string; readonly secondsLeft: number }
  | { readonly kind: 'cannot_ask'; readonly why: string };

/** Asks the user; `RunContext.askUser` if the client can prompt, else `ApprovalInbox.ask`. */
export type AskUser = (request: ApprovalRequest) => Promise<ApprovalAnswer>;

/** Asks the user through `ask`, else through `inbox`, and records the approval; throws without one. */
export async function requireApproval(
  { audit, inbox }: { readonly audit: AuditLog; readonly inbox?: { readonly ask: AskUser } | undefined },
  request: ApprovalRequest,
  ask: AskUser | undefined = inbox?.ask,
): Promise<Approved> {
  const { id, caller } = request;
  const approved = await approval(request, ask);
  const { by, note } = approved;
  audit.record({ kind: 'approved', id, caller, by, note });
  return approved;
}

type Approved = Extract<ApprovalAnswer, { readonly kind: 'approved' }>;

/** Resolves only if the user approves; throws `policy_denied` if they decline, `approval_required` without an answer. */
export async function approval(request: ApprovalRequest, ask: AskUser = cannotAsk): Promise<Approved> {
  const answer = await ask(request);
  if (answer.kind === 'approved') return answer;
  throw toRefusal(request.decision, answer);
}

const cannotAsk: AskUser = async () => ({ kind: 'cannot_ask', why: 'The user cannot be prompted here.' });

function toRefusal(
  decision: Decision,
  answer: Exclude<ApprovalAnswer, { readonly kind: 'approved' }>,
): NacreError {
  switch (answer.kind) {
    case 'declined':
      return toError(
        'policy_denied',
        decision,
        answer.note === undefined
          ? 'The user declined. Nothing was run.'
          : `The user declined: ${answer.note} Nothing was run.`,
        decision.hint ?? 'Do not make this call again; ask the user what to do instead.',
      );
    case 'no_answer':
      return toError(
        'approval_required',
        decision,
        'The user did not answer in time, which counts as a denial. Nothing was run.',
        decision.hint ?? 'Ask the user to be ready to answer, then make the same call again.',
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
      const hint = `Ask the user to run "nacre approvals approve ${approvalId}" in another terminal within ${secondsLeft} s, then make the same call again; it waits briefly if there is no answer yet.`;
      return toError('approval_required', decision, note, hint);
    }
  }
}

/** The `policy_denied` error for a denied command. */
export function deniedError(decision: Decision): NacreError {
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
