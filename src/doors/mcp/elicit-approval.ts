// Asks the client's user to approve a command:
// 1. until 2025-11-25 the server sends `elicitation/create` while the call waits,
// 2. since 2026-07-28 the call returns `input_required`, and the client repeats it with the answer.
import { createHmac, randomBytes, timingSafeEqual } from 'node:crypto';
import {
  CLIENT_CAPABILITIES_META_KEY,
  type InputRequiredResult,
  inputRequired,
  inputResponse,
  type ServerContext,
} from '@modelcontextprotocol/server';
import { z } from 'zod';
import type { ApprovalAnswer, ApprovalRequest, AskUser } from '../../engine/approval/approval.ts';
import { escapeControls } from '../../support/escape-controls.ts';
import { showApprovalRequest } from '../show-approval-request.ts';

/** The user of a client that supports elicitation. */
export interface ElicitedUser {
  readonly ask: AskUser;
  /** The question to return in place of a result, if the protocol revision asks that way and one is open. */
  openQuestion(): InputRequiredResult | undefined;
}

// Below the 60 s after which clients abandon a call; no answer by then denies the command.
const answerTimeoutMs = 50_000;
const answerKey = 'approval';
const approvalForm = z.object({ approve: z.boolean().describe('Run this command?') });
const formSchema = {
  type: 'object' as const,
  properties: { approve: { type: 'boolean' as const, title: 'Run this command?' } },
  required: ['approve'],
};
const secret = randomBytes(32);

/** Returns the user to ask about one call; undefined if the client does not support elicitation. */
export function elicitApproval(
  params: unknown,
  context: ServerContext,
  canElicit: boolean,
): ElicitedUser | undefined {
  const envelope: Readonly<Record<string, unknown>> | undefined = context.mcpReq.envelope;
  if (envelope === undefined) return canElicit ? askDuringCall(context) : undefined;
  const capabilities = { elicitation: undefined, ...(envelope[CLIENT_CAPABILITIES_META_KEY] ?? {}) };
  return capabilities.elicitation === undefined ? undefined : askInResult(params, context);
}

function askDuringCall({ mcpReq }: ServerContext): ElicitedUser {
  return {
    openQuestion: () => undefined,
    async ask(question) {
      try {
        const form = { message: toMessage(question), requestedSchema: formSchema };
        const { signal } = question;
        const options = { timeout: answerTimeoutMs, ...(signal && { signal }) };
        const { action, content } = await mcpReq.elicitInput(form, options);
        return toAnswer(action, content);
      } catch {
        return { kind: 'no_answer' };
      }
    },
  };
}

// `requestState` is an HMAC of the call's parameters, so that an answer cannot be reused for another command.
function askInResult(params: unknown, { mcpReq }: ServerContext): ElicitedUser {
  const state = createHmac('sha256', secret).update(JSON.stringify(params)).digest('hex');
  let open: ApprovalRequest | undefined;
  return {
    async ask(question) {
      const answer = inputResponse(mcpReq.inputResponses, answerKey);
      if (answer.kind === 'elicit' && isSame(mcpReq.requestState<string>(), state)) {
        return toAnswer(answer.action, answer.content);
      }
      open = question;
      return { kind: 'no_answer' };
    },
    openQuestion() {
      if (open === undefined) return undefined;
      const elicit = inputRequired.elicit({ message: toMessage(open), requestedSchema: approvalForm });
      return inputRequired({ inputRequests: { [answerKey]: elicit }, requestState: state });
    },
  };
}

function toAnswer(action: 'accept' | 'decline' | 'cancel', content: unknown): ApprovalAnswer {
  const form = approvalForm.safeParse(content);
  const isApproved = action === 'accept' && form.success && form.data.approve;
  return { kind: isApproved ? 'approved' : 'declined' };
}

function toMessage({ decision, asked }: ApprovalRequest): string {
  return `${escapeControls(decision.reason)}\n\n${showApprovalRequest(asked)}`;
}

function isSame(received: string | undefined, expected: string): boolean {
  const [one, other] = [Buffer.from(received ?? ''), Buffer.from(expected)];
  return one.length === other.length && timingSafeEqual(one, other);
}
