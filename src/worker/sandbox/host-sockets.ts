import { lstatSync, readFileSync, realpathSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';

// A sandbox mounts its own file systems here.
const replaced = /^\/(?:tmp|run|dev|proc)\//;

/** The Unix sockets in /proc/net/unix that a sandbox would still show. */
export function findHostSockets(): readonly string[] {
  try {
    const paths = toListening(readFileSync('/proc/net/unix', 'utf8')).flatMap(toCanonicalSocket);
    return [...new Set(paths)].filter((path) => !replaced.test(path));
  } catch {
    // Without /proc/net/unix no socket can be found.
    return [];
  }
}

/** The paths of listening and datagram sockets in /proc/net/unix, without duplicates. */
export function toListening(table: string): readonly string[] {
  const paths = table.split('\n').flatMap((line) => {
    // Num, RefCount, Protocol, Flags (10000: listening), Type, St, Inode, Path.
    const [, flags, path] = /^[0-9a-f]+: \w+ \w+ (\w+) \w+ \w+ +\d+ (\/.*)$/i.exec(line) ?? [];
    // A datagram socket (type 0002) does not listen, but anything can be sent to its path.
    const isDatagram = /^\S+ \S+ \S+ \S+ 0002 /.test(line);
    return path !== undefined && (flags === '00010000' || isDatagram) ? [path] : [];
  });
  return [...new Set(paths)];
}

function toCanonicalSocket(named: string): readonly string[] {
  try {
    const path = join(realpathSync(dirname(named)), basename(named));
    return lstatSync(path).isSocket() && canBeEntered(dirname(path)) ? [path] : [];
  } catch {
    // ENOENT: the socket belongs to a program in another mount namespace.
    return [];
  }
}

// Root has no capabilities in a sandbox, so neither a command nor `bwrap` can enter a folder there that the mode bits
// close to root; covering a socket in it would fail.
function canBeEntered(folder: string): boolean {
  if (process.getuid?.() !== 0) return true;
  const { uid, gid, mode } = lstatSync(folder);
  const bit = uid === 0 ? 0o100 : gid === 0 ? 0o010 : 0o001;
  return (mode & bit) !== 0 && (folder === '/' || canBeEntered(dirname(folder)));
}
