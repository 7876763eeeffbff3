import { NacreError } from '../../contract/failure.ts';
import type { ApprovalInbox, WaitingApproval } from '../../engine/approval/approval-inbox.ts';
import { visible } from '../../support/visible.ts';
import type { Assembly } from '../door.ts';
import { toSentences, write } from '../say.ts';
import { showAsked, toRow } from '../show-asked.ts';
import { askServers, type ReachedServer } from './reach-servers.ts';

type Listed = Awaited<ReturnType<ApprovalInbox['list']>>;
interface Inbox extends Listed {
  readonly server: ReachedServer;
}

/** Lists what waits for approval on every running server, approves one of them or denies it. */
export async function open({ io, words, flags, controlDir }: Assembly): Promise<number> {
  const order = toOrder(words);
  const { answered, failed, close } = await askServers<Listed>(controlDir, { method: 'approvals' });
  try {
    const inboxes = answered.map(({ server, result }) => ({ server, ...result }));
    await write(
      io.stdout,
      order ? await answer(inboxes, order) : flags.json ? toJson(inboxes) : toList(inboxes),
    );
    await write(io.stderr, failed.map(toSentences).join(''));
    return 0;
  } finally {
    close();
  }
}

function toJson(inboxes: readonly Inbox[]): string {
  const waiting = inboxes.flatMap((inbox) => inbox.waiting);
  return `${JSON.stringify(waiting, null, 2)}\n`;
}

interface Order {
  readonly answer: 'approved' | 'declined';
  readonly id: string;
}

const verbs: Readonly<Record<string, Order['answer']>> = { approve: 'approved', deny: 'declined' };

function toOrder([verb, id, ...more]: readonly string[]): Order | undefined {
  if (verb === undefined || (verb === 'list' && id === undefined)) return undefined;
  const answer = Object.hasOwn(verbs, verb) ? verbs[verb] : undefined;
  if (answer !== undefined && id !== undefined && more.length === 0) return { answer, id };
  throw new NacreError('invalid_request', 'nacre approvals takes nothing, approve ID or deny ID.', {
    hint: 'nacre approvals lists what waits.',
  });
}

async function answer(inboxes: readonly Inbox[], order: Order): Promise<string> {
  const { server } = inboxes.find(({ waiting }) => waiting.some(({ id }) => id === order.id)) ?? {};
  if (!server) {
    const off = inboxes.flatMap((inbox) => inbox.off ?? []);
    throw new NacreError('job_not_found', [`Nothing waits as ${visible(order.id)}.`, ...off].join(' '), {
      hint: 'nacre approvals lists what waits.',
    });
  }
  const { id, secondsLeft } = (await server.call({ method: 'answer', ...order })) as WaitingApproval;
  return order.answer === 'approved'
    ? `${id} approved: it runs when it is asked for again, once, within ${secondsLeft} s.\n`
    : `${id} denied.\n`;
}

function toList(inboxes: readonly Inbox[]): string {
  const waiting = inboxes.flatMap((inbox) => inbox.waiting).map(toText);
  const off = [...new Set(inboxes.flatMap((inbox) => inbox.off ?? []))].map((why) => `${why}\n`);
  return waiting.length > 0
    ? [...waiting, ...off].join('\n')
    : ['Nothing waits for approval.\n', ...off].join('');
}

function toText({ id, asked, reason, caller, secondsLeft }: WaitingApproval): string {
  const head = `${id}  ${secondsLeft} s left  ${visible(`${caller.client} over ${caller.door}`)}\n`;
  return head + toRow('why', reason) + showAsked(asked);
}
