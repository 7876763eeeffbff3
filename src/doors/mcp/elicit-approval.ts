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
import type { ApprovalAnswer, ApprovalRequest, AskUser } from '../../engine/approval/approval.ts';
import { toApprovalQuestion } from './approval-question.ts';

/** The user of a client that supports elicitation. */
export interface ElicitedUser {
  readonly ask: AskUser;
  /** The question to return in place of a result, if the protocol revision asks that way and one is open. */
  openQuestion(): InputRequiredResult | undefined;
}

// Shorter than the 60 s after which clients abandon a call; no answer within this time denies the command.
const answerTimeoutMs = 50_000;
const answerKey = 'approval';
// A form without fields: `accept` itself is the approval.
const requestedSchema = { type: 'object' as const, properties: {} };
const secret = randomBytes(32);

/** The parts of a call that an approval is valid for. */
interface ToolCall {
  readonly name: string;
  readonly arguments?: unknown;
}

/** Returns the user to ask about one call; undefined if the client does not support elicitation. */
export function elicitApproval(
  call: ToolCall,
  context: ServerContext,
  canElicit: boolean,
): ElicitedUser | undefined {
  const envelope: Readonly<Record<string, unknown>> | undefined = context.mcpReq.envelope;
  if (envelope === undefined) return canElicit ? askDuringCall(context) : undefined;
  const capabilities = { elicitation: undefined, ...(envelope[CLIENT_CAPABILITIES_META_KEY] ?? {}) };
  return capabilities.elicitation === undefined ? undefined : askInResult(call, context);
}

function askDuringCall({ mcpReq }: ServerContext): ElicitedUser {
  return {
    openQuestion: () => undefined,
    async ask(question) {
      try {
        const form = { message: toApprovalQuestion(question), requestedSchema };
        const { signal } = question;
        const options = { timeout: answerTimeoutMs, ...(signal && { signal }) };
        const { action } = await mcpReq.elicitInput(form, options);
        return toAnswer(action);
      } catch {
        return { kind: 'no_answer' };
      }
    },
  };
}

// `requestState` is an HMAC of the tool and its arguments, so that an answer cannot be reused for another command. The other
// parameters differ in the repeated call: `_meta.progressToken` is new, and the answer is part of them.
function askInResult(call: ToolCall, { mcpReq }: ServerContext): ElicitedUser {
  let open: ApprovalRequest | undefined;
  return {
    async ask(question) {
      const answer = inputResponse(mcpReq.inputResponses, answerKey);
      if (answer.kind === 'elicit' && isSame(mcpReq.requestState<string>(), toState(call))) {
        return toAnswer(answer.action);
      }
      open = question;
      return { kind: 'no_answer' };
    },
    openQuestion() {
      if (open === undefined) return undefined;
      const elicit = inputRequired.elicit({ message: toApprovalQuestion(open), requestedSchema });
      return inputRequired({ inputRequests: { [answerKey]: elicit }, requestState: toState(call) });
    },
  };
}

function toAnswer(action: 'accept' | 'decline' | 'cancel'): ApprovalAnswer {
  return { kind: action === 'accept' ? 'approved' : 'declined' };
}

function toState({ name, arguments: args }: ToolCall): string {
  return createHmac('sha256', secret)
    .update(JSON.stringify([name, inKeyOrder(args ?? null)]))
    .digest('hex');
}

// A client may parse and write the arguments again, which can change the order of their keys.
function inKeyOrder(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(inKeyOrder);
  if (typeof value !== 'object' || value === null) return value;
  const entries = Object.entries(value).toSorted(([one], [other]) => (one < other ? -1 : 1));
  return Object.fromEntries(entries.map(([key, part]) => [key, inKeyOrder(part)]));
}

function isSame(received: string | undefined, expected: string): boolean {
  const [one, other] = [Buffer.from(received ?? ''), Buffer.from(expected)];
  return one.length === other.length && timingSafeEqual(one, other);
}
