import { createHmac, randomBytes, timingSafeEqual } from 'node:crypto';
import {
  CLIENT_CAPABILITIES_META_KEY,
  type InputRequiredResult,
  inputRequired,
  inputResponse,
  type ServerContext,
} from '@modelcontextprotocol/server';
import { z } from 'zod';
import type { Answer, AskPerson, Question } from '../../engine/approval/approval.ts';
import { visible } from '../../support/visible.ts';
import { showAsked } from '../show-asked.ts';

/** The person behind a client that can ask its user. */
export interface Person {
  readonly ask: AskPerson;
  /** The question that has to go out in place of an answer, where the protocol asks that way. */
  question(): InputRequiredResult | undefined;
}

// Clients give up on a call after a minute; no answer by then is a denial.
const answerWithinMs = 50_000;
const answerKey = 'approval';
const approvalForm = z.object({ approve: z.boolean().describe('Run this command?') });
const formSchema = {
  type: 'object' as const,
  properties: { approve: { type: 'boolean' as const, title: 'Run this command?' } },
  required: ['approve'],
};
const secret = randomBytes(32);

/** How the client's user can be reached; undefined when it cannot ask. */
export function reachPerson(params: unknown, context: ServerContext, elicits: boolean): Person | undefined {
  const envelope: Readonly<Record<string, unknown>> | undefined = context.mcpReq.envelope;
  if (envelope === undefined) return elicits ? askNow(context) : undefined;
  const capabilities = { elicitation: undefined, ...(envelope[CLIENT_CAPABILITIES_META_KEY] ?? {}) };
  return capabilities.elicitation === undefined ? undefined : askInReply(params, context);
}

// Until 2025-11-25 the server sends its question while the call waits.
function askNow({ mcpReq }: ServerContext): Person {
  return {
    question: () => undefined,
    async ask(question) {
      try {
        const form = { message: toMessage(question), requestedSchema: formSchema };
        const { signal } = question;
        const waiting = { timeout: answerWithinMs, ...(signal && { signal }) };
        const { action, content } = await mcpReq.elicitInput(form, waiting);
        return toAnswer(action, content);
      } catch {
        return { kind: 'no_answer' };
      }
    },
  };
}

// Since 2026-07-28 the question is the reply, and the client calls again with the answer. The state that it has to
// send along is bound to the call, so that an answer cannot be carried over to another command.
function askInReply(params: unknown, { mcpReq }: ServerContext): Person {
  const state = createHmac('sha256', secret).update(JSON.stringify(params)).digest('hex');
  let open: Question | undefined;
  return {
    async ask(question) {
      const answer = inputResponse(mcpReq.inputResponses, answerKey);
      if (answer.kind === 'elicit' && isSame(mcpReq.requestState<string>(), state)) {
        return toAnswer(answer.action, answer.content);
      }
      open = question;
      return { kind: 'no_answer' };
    },
    question() {
      if (open === undefined) return undefined;
      const elicit = inputRequired.elicit({ message: toMessage(open), requestedSchema: approvalForm });
      return inputRequired({ inputRequests: { [answerKey]: elicit }, requestState: state });
    },
  };
}

function toAnswer(action: 'accept' | 'decline' | 'cancel', content: unknown): Answer {
  const form = approvalForm.safeParse(content);
  const isApproved = action === 'accept' && form.success && form.data.approve;
  return { kind: isApproved ? 'approved' : 'declined' };
}

function toMessage({ decision, asked }: Question): string {
  return `${visible(decision.reason)}\n\n${showAsked(asked)}`;
}

function isSame(given: string | undefined, expected: string): boolean {
  const [one, other] = [Buffer.from(given ?? ''), Buffer.from(expected)];
  return one.length === other.length && timingSafeEqual(one, other);
}
