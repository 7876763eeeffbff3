import { lstatSync, readFileSync, realpathSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';

// A sandbox has folders of its own in these places.
const replaced = /^\/(?:tmp|run|dev|proc)\//;

/** The Unix sockets on which programs of this machine listen and which a sandbox would still show. */
export function findHostSockets(): readonly string[] {
  try {
    const paths = toListening(readFileSync('/proc/net/unix', 'utf8')).flatMap(toCanonicalSocket);
    return [...new Set(paths)].filter((path) => !replaced.test(path));
  } catch {
    // Without the kernel's list nothing can be said of them.
    return [];
  }
}

/** The paths of listening sockets in the kernel's table, each once. */
export function toListening(table: string): readonly string[] {
  const paths = table.split('\n').flatMap((line) => {
    // Number, references, protocol, flags (10000: it listens), type, state, inode and path.
    const [, flags, path] = /^[0-9a-f]+: \w+ \w+ (\w+) \w+ \w+ +\d+ (\/.*)$/i.exec(line) ?? [];
    // A datagram socket does not listen; whoever knows its path can send to it.
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
    // It belongs to a program with another view of the file system.
    return [];
  }
}

// That we found it proves nothing for root, whose powers end at the sandbox: there neither a command nor the one who
// makes the sandbox gets into a folder that is closed to others.
function canBeEntered(folder: string): boolean {
  if (process.getuid?.() !== 0) return true;
  const { uid, gid, mode } = lstatSync(folder);
  const bit = uid === 0 ? 0o100 : gid === 0 ? 0o010 : 0o001;
  return (mode & bit) !== 0 && (folder === '/' || canBeEntered(dirname(folder)));
}
