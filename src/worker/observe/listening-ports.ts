import { readdirSync, readlinkSync } from 'node:fs';
import { readOrEmpty } from '../processes/descendants.ts';

// States of a socket in /proc/PID/net/tcp.
const listenState = '0A';
const establishedState = '01';

/** The TCP ports on which these processes listen, lowest first; processes whose /proc is not readable are left out. */
export function listeningPorts(pids: readonly number[]): readonly number[] {
  return toPorts(pids.flatMap((pid) => ownSockets(pid, listenState)));
}

/** The TCP ports on which any process in the network namespace of a process listens, lowest first. */
export function portsInNetworkOf(pid: number): readonly number[] {
  return toPorts(socketsIn(pid, listenState));
}

/** True if one of these processes has a TCP connection whose own end is this port. */
export function hasConnection(pids: readonly number[], port: number): boolean {
  return pids.some((pid) => ownSockets(pid, establishedState).some((socket) => socket.port === port));
}

function toPorts(sockets: readonly TcpSocket[]): readonly number[] {
  return [...new Set(sockets.map(({ port }) => port))].sort((one, other) => one - other);
}

function ownSockets(pid: number, state: string): readonly TcpSocket[] {
  const own = socketsOf(pid);
  return own.size === 0 ? [] : socketsIn(pid, state).filter(({ inode }) => own.has(inode));
}

function socketsOf(pid: number): ReadonlySet<string> {
  try {
    const links = readdirSync(`/proc/${pid}/fd`).map((fd) => readLink(`/proc/${pid}/fd/${fd}`));
    return new Set(links.flatMap((link) => /^socket:\[(\d+)\]$/.exec(link)?.[1] ?? []));
  } catch {
    return new Set();
  }
}

interface TcpSocket {
  readonly port: number;
  readonly inode: string;
}

/** All sockets in a state in the network namespace of a process, from /proc/PID/net/tcp and tcp6. */
function socketsIn(pid: number, wanted: string): readonly TcpSocket[] {
  const lines = ['tcp', 'tcp6'].flatMap((name) =>
    readOrEmpty(`/proc/${pid}/net/${name}`).split('\n').slice(1),
  );
  return lines.flatMap((line) => {
    const [, local = '', , state, , , , , , inode] = line.trim().split(/\s+/);
    if (state !== wanted || inode === undefined) return [];
    return [{ port: Number.parseInt(local.slice(local.lastIndexOf(':') + 1), 16), inode }];
  });
}

function readLink(path: string): string {
  try {
    return readlinkSync(path);
  } catch {
    return '';
  }
}
