// The other servers of this user, by their control sockets: what runs there, what they ask, and their output.
import type { ServerCard } from '../../../contract/console.ts';
import { NacreError } from '../../../contract/failure.ts';
import type { ReadResult } from '../../../contract/job.ts';
import type { ApprovalInbox, PendingApproval } from '../../../engine/approval/approval-inbox.ts';
import type { ListedCommand } from '../../../engine/commands/commands.ts';
import type { ControlCall, SentBytes } from '../../../servers/control-call.ts';
import { askServers, type ReachedServer, type ServerFolder } from '../../../servers/reach-servers.ts';
import type { ServerStatus } from '../../../servers/server-status.ts';
import type { ReadLog } from '../../../support/tail.ts';

/** The replies of the other servers. */
export interface ServersFound {
  readonly servers: readonly ServerCard[];
  readonly commands: readonly { readonly instance: string; readonly listed: readonly ListedCommand[] }[];
  readonly questions: readonly { readonly instance: string; readonly waiting: readonly PendingApproval[] }[];
}

const replyMs = 2_000;

/** Asks every server but this one; `attendMs` says how long a person looks at the questions. */
export async function pollServers(controlDir: string, own: string, attendMs: number): Promise<ServersFound> {
  const { replies, close } = await askServers<ServerStatus>({ controlDir, replyMs }, { method: 'status' });
  try {
    const others = replies.flatMap(({ server, result }) =>
      result.instance === null || result.instance === own
        ? []
        : [{ server, status: result, instance: result.instance }],
    );
    const commands = await ask<readonly ListedCommand[]>(others, { method: 'list' });
    const inboxes = await ask<Awaited<ReturnType<ApprovalInbox['list']>>>(others, {
      method: 'approvals',
      attendMs,
    });
    return {
      servers: others.map(({ status, instance }) => toServerCard(status, instance, false)),
      commands: commands.map(({ instance, result }) => ({ instance, listed: result })),
      questions: inboxes.map(({ instance, result }) => ({ instance, waiting: result.waiting })),
    };
  } finally {
    close();
  }
}

interface Other {
  readonly server: ReachedServer;
  readonly instance: string;
}

// A server that fails or is of an earlier version is left out.
async function ask<Result>(others: readonly Other[], call: ControlCall) {
  const replies = await Promise.all(
    others.map(({ server, instance }) =>
      server.call(call).then(
        (result) => [{ instance, result: result as Result }],
        () => [],
      ),
    ),
  );
  return replies.flat();
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

/** Makes one call to the server with this instance; throws if it is gone. */
export async function callServer(
  folder: ServerFolder,
  instance: string,
  call: ControlCall,
): Promise<unknown> {
  const server = await reach(folder, instance);
  try {
    return await server.call(call);
  } finally {
    server.close();
  }
}

/** Reads the output of another server's command; `close` ends its connection. */
export async function openRemoteLog(
  folder: ServerFolder,
  instance: string,
  id: string,
): Promise<{ readonly read: ReadLog; close(): void }> {
  const server = await reach(folder, instance);
  return {
    async read(from, query) {
      const sent = (await server.call({ method: 'bytes', id, from, query })) as SentBytes;
      const decode = (data: string) => new Uint8Array(Buffer.from(data, 'base64'));
      const chunks = sent.chunks.map(({ stream, data }) => ({ stream, data: decode(data) }));
      return { ...sent, chunks } satisfies ReadResult;
    },
    close: server.close,
  };
}

async function reach(folder: ServerFolder, instance: string): Promise<ReachedServer> {
  const { replies, close } = await askServers<ServerStatus>({ ...folder, replyMs }, { method: 'status' });
  const found = replies.find(({ result }) => result.instance === instance)?.server;
  for (const { server } of replies) if (server !== found) server.close();
  if (found) return found;
  close();
  throw new NacreError('job_not_found', 'The server of this command is gone.', {
    hint: 'Its output is gone with it, unless the setting record was on.',
  });
}
