// A socket that a server listens on as long as it lives. The kernel closes it when the server dies, and unlike a pid it can be
// checked from another pid namespace: connect() succeeds even if the server is stopped or was suspended for days.
import { closeSync, constants, openSync, writeFileSync } from 'node:fs';
import { connect, createServer } from 'node:net';
import { join } from 'node:path';
import { listenAt } from '../../support/listen-at.ts';
import { bootId, isOnLocalDisk } from '../../support/process-identity.ts';
import { readRegularFile } from '../../support/regular-file.ts';

const socketName = 'alive';
const bootName = 'boot';

/** Listens on a socket in a folder until the returned function is called, and writes the boot id there. */
export function openLivenessSocket(folder: string): () => void {
  const server = createServer((socket) => socket.destroy()).unref();
  // Without /proc, or on a file system without sockets, servers in other namespaces cannot know, and leave the folder alone.
  server.on('error', () => {});
  try {
    listenAt(server, join(folder, socketName));
    writeFileSync(join(folder, bootName), bootId(), { mode: 0o600, flag: 'wx' });
  } catch {}
  return () => void server.close();
}

/**
 * Whether the server of a folder is certainly dead, as seen from another pid namespace: by its socket under the same kernel,
 * or because the kernel has booted since and no other machine can write to the disk.
 */
export async function isLeftBehind(folder: string): Promise<boolean> {
  const [boot, own] = [readBoot(folder), bootId()];
  if (boot === '' || own === '') return false;
  return boot === own ? (await isListening(folder)) === false : isOnLocalDisk(folder);
}

function readBoot(folder: string): string {
  try {
    return readRegularFile(join(folder, bootName));
  } catch {
    return '';
  }
}

/** Whether a process listens on the socket of a folder; undefined if there is no socket, or no permission to connect. */
async function isListening(folder: string): Promise<boolean | undefined> {
  const fd = openSync(folder, constants.O_RDONLY | constants.O_DIRECTORY | constants.O_NOFOLLOW);
  try {
    return await new Promise((resolve) => {
      const socket = connect(`/proc/self/fd/${fd}/${socketName}`);
      socket.once('connect', () => {
        socket.destroy();
        resolve(true);
      });
      socket.once('error', ({ code }: NodeJS.ErrnoException) => resolve(answers.get(code ?? '')));
    });
  } finally {
    closeSync(fd);
  }
}

// EAGAIN: its queue of connections is full, because it is stopped.
const answers: ReadonlyMap<string, boolean> = new Map([
  ['ECONNREFUSED', false],
  ['EAGAIN', true],
]);
