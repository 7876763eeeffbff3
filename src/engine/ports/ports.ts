import type { AuditedPort } from '../../audit/entry.ts';
import type { Backend } from '../../contract/backend.ts';
import type { Caller } from '../../contract/caller.ts';
import { NacreError } from '../../contract/failure.ts';
import type { ForwardedPort, RoomState } from '../../contract/port.ts';
import { createId } from '../../support/ids.ts';
import type { EngineDeps } from '../context/engine-deps.ts';

/** A port of the setting `ports`: opened on `hostPort` as soon as a sandboxed command listens on it. */
export type WantedPort = Pick<ForwardedPort, 'port' | 'hostPort'>;

/** A request to open a port; without a room, the only one whose commands listen on it. */
export interface PortRequest extends WantedPort {
  readonly room?: string | undefined;
}

/** The ports of sandboxed commands that the user opens on 127.0.0.1. */
export interface Ports {
  list(): Promise<readonly RoomState[]>;
  open(request: PortRequest, caller: Caller): Promise<AuditedPort>;
  /** Closes a port of 127.0.0.1; throws if it is not open. */
  close(hostPort: number, caller: Caller): Promise<AuditedPort>;
  /** Closes the ports of a room. */
  closeRoom(room: string): Promise<void>;
  /** Closes all ports and opens no more. */
  stop(): Promise<void>;
}

interface OpenPort extends AuditedPort {
  /** The id of its audit records. */
  readonly id: string;
  /** How often in a row no process listened on it. */
  missed: number;
}

type PortDeps = Pick<EngineDeps, 'audit'> & {
  readonly backend: Pick<Backend, 'listRooms' | 'openPort' | 'closePort'>;
};

const pollMs = 500;
// A server that restarts itself stops listening for a moment.
const maxMissed = 6;
const owner: Caller = { door: 'cli', client: 'setting ports' };

/**
 * Creates the ports of an engine. While one is open, or `wanted` names some, the rooms are polled: a port closes when the
 * command that listened on it has ended, or when no process has listened on it for three seconds.
 */
export function createPorts({ backend, audit }: PortDeps, wanted: readonly WantedPort[]): Ports {
  const open = new Map<number, OpenPort>();
  let timer: NodeJS.Timeout | undefined;
  let isStopped = false;

  const schedule = () => {
    if (isStopped || timer || (open.size === 0 && wanted.length === 0)) return;
    timer = setTimeout(() => void poll(), pollMs).unref();
  };
  const poll = async () => {
    const rooms = await backend.listRooms().catch(() => []);
    for (const one of [...open.values()]) await checkListener(one, rooms);
    for (const one of wanted) await openWanted(one, rooms);
    timer = undefined;
    schedule();
  };
  const checkListener = async (one: OpenPort, rooms: readonly RoomState[]) => {
    const listener = findListener(rooms, one);
    const isGone = one.command !== null && listener?.command !== one.command;
    one.missed = listener ? 0 : one.missed + 1;
    if (isGone || one.missed >= maxMissed) await close(one, owner, 'nothing listens on it any more');
  };
  // A port of the machine that is in use, or a room that has just ended, is tried again at the next poll.
  const openWanted = async ({ port, hostPort }: WantedPort, rooms: readonly RoomState[]) => {
    const { room } = rooms.find((one) => findListener([one], { room: one.room, port })) ?? {};
    if (room !== undefined && !open.has(hostPort))
      await openIn({ room, port, hostPort }, rooms, owner).catch(() => {});
  };
  const openIn = async (port: ForwardedPort, rooms: readonly RoomState[], caller: Caller) => {
    const command = findListener(rooms, port)?.command ?? null;
    const opened: OpenPort = { ...port, command, id: createId('port'), missed: 0 };
    const { id } = opened;
    // The record comes first: a port that is not in the audit log is never open.
    audit.record({ kind: 'port_opened', id, caller, port: opened });
    try {
      await backend.openPort(port);
    } catch (error) {
      audit.tryRecord({ kind: 'port_closed', id, caller, port: opened, reason: 'it could not be opened' });
      throw error;
    }
    open.set(port.hostPort, opened);
    schedule();
    return toAudited(opened);
  };
  const close = async (one: OpenPort, caller: Caller, reason: string) => {
    open.delete(one.hostPort);
    await backend.closePort(one.hostPort);
    audit.tryRecord({ kind: 'port_closed', id: one.id, caller, port: one, reason });
    return toAudited(one);
  };

  schedule();
  return {
    list: () => backend.listRooms(),
    async open(request, caller) {
      const rooms = await backend.listRooms();
      return openIn({ ...request, room: request.room ?? onlyRoom(rooms, request.port) }, rooms, caller);
    },
    async close(hostPort, caller) {
      const found = open.get(hostPort);
      if (!found) throw notOpen(hostPort);
      return close(found, caller, 'closed by the user');
    },
    async closeRoom(room) {
      const own = [...open.values()].filter((one) => one.room === room);
      await Promise.all(own.map((one) => close(one, owner, 'its connection has ended')));
    },
    async stop() {
      isStopped = true;
      clearTimeout(timer);
      await Promise.all([...open.values()].map((one) => close(one, owner, 'the server ends')));
    },
  };
}

function toAudited({ room, port, hostPort, command }: AuditedPort): AuditedPort {
  return { room, port, hostPort, command };
}

function findListener(rooms: readonly RoomState[], { room, port }: Pick<ForwardedPort, 'room' | 'port'>) {
  const state = rooms.find((one) => one.room === room);
  return state?.listening.find((one) => one.port === port);
}

function onlyRoom(rooms: readonly RoomState[], port: number): string {
  const [first, ...others] = rooms.filter(({ room }) => findListener(rooms, { room, port }));
  if (first && others.length === 0) return first.room;
  if (!first) {
    throw new NacreError('invalid_request', `No sandboxed command listens on port ${port}.`, {
      hint: 'Start the server first; nacre port lists the ports that commands listen on.',
    });
  }
  const names = [first, ...others].map(({ room }) => room).join(', ');
  throw new NacreError(
    'invalid_request',
    `Commands of several connections listen on port ${port}: ${names}.`,
    {
      hint: 'Name one of them, or one of its commands, with --for.',
    },
  );
}

function notOpen(hostPort: number): NacreError {
  return new NacreError('invalid_request', `Port ${hostPort} of 127.0.0.1 was not opened by nacre.`, {
    hint: 'nacre port lists the open ports.',
  });
}
