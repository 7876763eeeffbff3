// The other servers of this user, reached by their control sockets: their commands, approval requests and output.
import type { IndexedCommand } from '../../../audit/command-index.ts';
import type { ServerCard } from '../../../contract/console.ts';
import { NacreError } from '../../../contract/failure.ts';
import type { ReadResult } from '../../../contract/job.ts';
import type { ApprovalInbox, PendingApproval } from '../../../engine/approval/approval-inbox.ts';
import type { ListedCommand } from '../../../engine/commands/commands.ts';
import type { ControlCall, SentBytes } from '../../../servers/control-call.ts';
import {
  askServers,
  listServerPids,
  type ReachedServer,
  type ServerFolder,
} from '../../../servers/reach-servers.ts';
import type { ServerStatus } from '../../../servers/server-status.ts';
import type { ReadLog } from '../../../support/tail.ts';
import { settlesWithin } from '../../../support/timing.ts';
import type { WorkerAccess } from '../../door.ts';

/** The last replies of one other server. */
export interface OtherServer {
  readonly instance: string;
  readonly server: ServerCard;
  readonly listed: readonly ListedCommand[];
  readonly waiting: readonly PendingApproval[];
}

const replyMs = 2_000;
// How long one poll waits for the other servers. A reply that takes longer is added when it arrives.
const patienceMs = 250;

/**
 * Polls the other servers of this user. A server that does not reply delays neither a poll nor the replies of the
 * others.
 */
export class OtherServers {
  readonly #controlDir: string;
  readonly #onLate: () => void;
  readonly #found = new Map<string, OtherServer>();
  /** The pids of servers with an outstanding request; they are not polled again until they reply. */
  readonly #asked = new Set<string>();

  /** `onLate` is called when a reply arrives, or a server is found to be gone, after its poll has returned. */
  constructor(controlDir: string, onLate: () => void) {
    this.#controlDir = controlDir;
    this.#onLate = onLate;
  }

  all(): readonly OtherServer[] {
    return [...this.#found.values()];
  }

  /** Polls every server but `own`; `attendMs` says how long a person can see the approval requests. */
  async poll(own: string, attendMs: number): Promise<void> {
    let isLate = false;
    const pids = listServerPids(this.#controlDir);
    for (const pid of this.#found.keys()) if (!pids.includes(pid)) this.#found.delete(pid);
    const asks = pids
      .filter((pid) => !this.#asked.has(pid))
      .map(async (pid) => {
        await this.#ask(pid, own, attendMs);
        if (isLate) this.#onLate();
      });
    await settlesWithin(Promise.all(asks), patienceMs);
    isLate = true;
  }

  async #ask(pid: string, own: string, attendMs: number): Promise<void> {
    this.#asked.add(pid);
    const folder = { controlDir: this.#controlDir, replyMs, pid };
    const reply = await askServer(folder, own, attendMs).catch(() => undefined);
    this.#asked.delete(pid);
    const before = this.#found.get(pid);
    const found = reply === 'silent' ? before && toSilent(before) : reply;
    if (found) this.#found.set(pid, found);
    else this.#found.delete(pid);
  }
}

// Its approval requests cannot be answered now.
function toSilent(before: OtherServer): OtherServer {
  return { ...before, server: { ...before.server, problem: 'It does not reply.' }, waiting: [] };
}

async function askServer(
  folder: ServerFolder,
  own: string,
  attendMs: number,
): Promise<OtherServer | 'silent' | undefined> {
  const { replies, failed, close } = await askServers<ServerStatus>(folder, { method: 'status' });
  try {
    const [reply] = replies;
    if (failed.length > 0) return 'silent';
    const instance = reply?.result.instance ?? own;
    if (!reply || instance === own) return undefined;
    const { server, result } = reply;
    const listed = await ask<readonly ListedCommand[]>(server, { method: 'list' });
    const inbox = await ask<Inbox>(server, { method: 'approvals', attendMs });
    return {
      ...{ instance, server: toServerCard(result, instance, false) },
      ...{ listed: listed ?? [], waiting: inbox?.waiting ?? [] },
    };
  } finally {
    close();
  }
}

type Inbox = Awaited<ReturnType<ApprovalInbox['list']>>;

// A server of an earlier version may not know the call.
async function ask<Result>(server: ReachedServer, call: ControlCall): Promise<Result | undefined> {
  return (await server.call(call).catch(() => undefined)) as Result | undefined;
}

/** A server as the page shows it. */
export function toServerCard(status: ServerStatus, instance: string, own: boolean): ServerCard {
  const { pid, door, version, address, started_at, cwd, clients, running, sandbox, problem } = status;
  return {
    instance,
    pid,
    door,
    version,
    address,
    since: started_at,
    cwd,
    clients,
    running,
    sandbox,
    problem,
    own,
  };
}

/** The places where commands run: the servers of this user, and the worker that keeps commands of ended servers. */
export interface CommandPlaces extends Pick<WorkerAccess, 'listKept' | 'keptCommands'> {
  readonly controlDir: string;
}

/** Makes one call to the server with this instance; throws if it is gone. */
export async function callServer(controlDir: string, instance: string, call: ControlCall): Promise<unknown> {
  return callOnce(await findServer(controlDir, instance), call);
}

/** Makes one call about a command, to the server or worker that has it. */
export async function callAbout(
  places: CommandPlaces,
  { id, server }: CommandPlace,
  call: ControlCall,
): Promise<unknown> {
  return callOnce(await reach(places, { id, server }), call);
}

async function callOnce(server: ReachedServer | undefined, call: ControlCall): Promise<unknown> {
  if (!server) throw serverGone();
  try {
    return await server.call(call);
  } finally {
    server.close();
  }
}

/** Reads the output of a command that this server does not have; `close` ends its connection. */
export async function openRemoteLog(
  places: CommandPlaces,
  command: CommandPlace,
): Promise<{ readonly read: ReadLog; close(): void }> {
  const server = await reach(places, command);
  return {
    async read(from, query) {
      const { id } = command;
      const sent = (await server.call({ method: 'bytes', id, from, query })) as SentBytes;
      const decode = (data: string) => new Uint8Array(Buffer.from(data, 'base64'));
      const chunks = sent.chunks.map(({ stream, data }) => ({ stream, data: decode(data) }));
      return { ...sent, chunks } satisfies ReadResult;
    },
    close: server.close,
  };
}

/** A command and the instance of the server that started it. */
type CommandPlace = Pick<IndexedCommand, 'id' | 'server'>;

// A command may have outlived its server: then another server has reattached to it, or only the worker has it.
async function reach(places: CommandPlaces, { id, server }: CommandPlace): Promise<ReachedServer> {
  const found = (await findServer(places.controlDir, server)) ?? (await findHolder(places, id));
  if (!found) throw serverGone();
  return found;
}

async function findServer(controlDir: string, instance: string): Promise<ReachedServer | undefined> {
  const [pid] = instance.split('_');
  const { replies } = await askServers<ServerStatus>({ controlDir, replyMs, pid }, { method: 'status' });
  return keepOne(replies, ({ result }) => result.instance === instance);
}

async function findHolder(
  { controlDir, listKept, keptCommands }: CommandPlaces,
  id: string,
): Promise<ReachedServer | undefined> {
  const isKept = listKept().some((one) => one.id === id);
  if (!isKept) return undefined;
  const folder = { controlDir, replyMs, keptCommands };
  const { replies } = await askServers<readonly ListedCommand[]>(folder, { method: 'list' });
  return keepOne(replies, ({ result }) => result.some((one) => one.id === id));
}

function keepOne<Reply extends { readonly server: ReachedServer }>(
  replies: readonly Reply[],
  isWanted: (reply: Reply) => boolean,
): ReachedServer | undefined {
  const found = replies.find(isWanted)?.server;
  for (const { server } of replies) if (server !== found) server.close();
  return found;
}

function serverGone(): NacreError {
  return new NacreError('job_not_found', 'The server of this command is gone.', {
    hint: 'Its output is gone with it, unless the setting record was on.',
  });
}
