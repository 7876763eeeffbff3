import { NacreError } from '../../contract/failure.ts';
import type { ApprovalInbox, PendingApproval } from '../../engine/approval/approval-inbox.ts';
import { askServers, type ReachedServer, type ServerFolder } from '../../servers/reach-servers.ts';
import { didYouMean } from '../../settings/nearest.ts';
import { escapeControls } from '../../support/escape-controls.ts';
import type { Arguments, FlagAccess, IoAccess } from '../door.ts';
import { print, toErrorText } from '../print.ts';
import { showApprovalRequest, toRow } from '../show-approval-request.ts';

type ListedApprovals = Awaited<ReturnType<ApprovalInbox['list']>>;
type ApprovalsDeps = FlagAccess<{ readonly json: boolean }> & IoAccess & Arguments & ServerFolder;

interface Inbox extends ListedApprovals {
  readonly server: ReachedServer;
}

/** Lists the pending approval requests of every running server, or approves or denies one of them. */
export async function approvalsDoor(deps: ApprovalsDeps): Promise<number> {
  const { io, words, flags } = deps;
  const verdict = toVerdict(words);
  const { replies, failed, close } = await askServers<ListedApprovals>(deps, { method: 'approvals' });
  try {
    const inboxes = withoutRepeated(replies.map(({ server, result }) => ({ server, ...result })));
    await print(
      io.stdout,
      verdict ? await answer(inboxes, verdict) : flags.json ? toJson(inboxes) : toList(inboxes),
    );
    await print(io.stderr, failed.map(toErrorText).join(''));
    return 0;
  } finally {
    close();
  }
}

// The request of a server that has ended is listed by every server of its project.
function withoutRepeated(inboxes: readonly Inbox[]): readonly Inbox[] {
  const known = new Set<string>();
  return inboxes.map((inbox) => ({
    ...inbox,
    waiting: inbox.waiting.filter(({ id }) => !known.has(id) && known.add(id)),
  }));
}

function toJson(inboxes: readonly Inbox[]): string {
  const waiting = inboxes.flatMap((inbox) => inbox.waiting);
  return `${JSON.stringify(waiting, null, 2)}\n`;
}

interface Verdict {
  readonly answer: 'approved' | 'declined';
  readonly id: string;
}

const verbs: Readonly<Record<string, Verdict['answer']>> = { approve: 'approved', deny: 'declined' };

function toVerdict([verb, id, ...more]: readonly string[]): Verdict | undefined {
  if (verb === undefined || (verb === 'list' && id === undefined)) return undefined;
  const answer = Object.hasOwn(verbs, verb) ? verbs[verb] : undefined;
  if (answer !== undefined && id !== undefined && more.length === 0) return { answer, id };
  const suggestion = answer === undefined ? didYouMean(verb, Object.keys(verbs)) : '';
  const message = `nacre approvals accepts no arguments, approve ID or deny ID.${suggestion}`;
  throw new NacreError('invalid_request', message, {
    hint: 'nacre approvals lists the requests.',
  });
}

async function answer(inboxes: readonly Inbox[], verdict: Verdict): Promise<string> {
  const { server } = inboxes.find(({ waiting }) => waiting.some(({ id }) => id === verdict.id)) ?? {};
  if (!server) {
    const off = inboxes.flatMap((inbox) => inbox.off ?? []);
    throw new NacreError(
      'job_not_found',
      [`No request ${escapeControls(verdict.id)} is waiting for approval.`, ...off].join(' '),
      {
        hint: 'nacre approvals lists the requests.',
      },
    );
  }
  const answered = (await server.call({ method: 'answer', ...verdict })) as PendingApproval;
  const { id, secondsLeft, asked } = answered;
  if (asked.changes)
    return verdict.answer === 'approved'
      ? `${id} approved: its changes are applied.\n`
      : `${id} denied: its changes are discarded.\n`;
  return verdict.answer === 'approved'
    ? `${id} approved: the same request runs, once, if it is made again within ${secondsLeft} s.\n`
    : `${id} denied.\n`;
}

function toList(inboxes: readonly Inbox[]): string {
  const waiting = inboxes.flatMap((inbox) => inbox.waiting).map(toText);
  const off = [...new Set(inboxes.flatMap((inbox) => inbox.off ?? []))].map((reason) => `${reason}\n`);
  return waiting.length > 0
    ? [...waiting, ...off].join('\n')
    : ['Nothing is waiting for approval.\n', ...off].join('');
}

function toText({ id, asked, reason, caller, secondsLeft }: PendingApproval): string {
  const head = `${id}  ${secondsLeft} s left  ${escapeControls(`${caller.client} over ${caller.door}`)}\n`;
  return head + toRow('why', reason) + showApprovalRequest(asked);
}
