import { readdirSync, readlinkSync } from 'node:fs';
import { readOrEmpty } from '../processes/descendants.ts';

// State of a listening socket in /proc/PID/net/tcp.
const listenState = '0A';

/** The TCP ports on which these processes listen, lowest first; processes whose /proc is not readable are left out. */
export function listeningPorts(pids: readonly number[]): readonly number[] {
  const ports = pids.flatMap((pid) => {
    const own = socketsOf(pid);
    return own.size === 0 ? [] : listenersOf(pid).filter(({ inode }) => own.has(inode));
  });
  return [...new Set(ports.map(({ port }) => port))].sort((one, other) => one - other);
}

function socketsOf(pid: number): ReadonlySet<string> {
  try {
    const links = readdirSync(`/proc/${pid}/fd`).map((fd) => readLink(`/proc/${pid}/fd/${fd}`));
    return new Set(links.flatMap((link) => /^socket:\[(\d+)\]$/.exec(link)?.[1] ?? []));
  } catch {
    return new Set();
  }
}

/** All listening sockets in the network namespace of a process, from /proc/PID/net/tcp and tcp6. */
function listenersOf(pid: number): readonly { readonly port: number; readonly inode: string }[] {
  const lines = ['tcp', 'tcp6'].flatMap((name) =>
    readOrEmpty(`/proc/${pid}/net/${name}`).split('\n').slice(1),
  );
  return lines.flatMap((line) => {
    const [, local = '', , state, , , , , , inode] = line.trim().split(/\s+/);
    if (state !== listenState || inode === undefined) return [];
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
