import { closeSync, constants, openSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';

// The kernel accepts 107 bytes; libuv cuts a longer path, and the socket would be somewhere else.
const maxAddressBytes = 100;

/** An address for a socket whose path may be longer than an address can be; valid until `release`. */
export function toSocketAddress(path: string): { readonly address: string; release(): void } {
  if (Buffer.byteLength(path) <= maxAddressBytes) return { address: path, release() {} };
  const fd = openSync(dirname(path), constants.O_RDONLY | constants.O_DIRECTORY);
  let isOpen = true;
  return {
    address: join(`/proc/self/fd/${fd}`, basename(path)),
    release() {
      if (isOpen) closeSync(fd);
      isOpen = false;
    },
  };
}
