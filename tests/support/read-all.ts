import type { Backend } from '../../src/contract/backend.ts';

/** Reads a command's output until its end. */
export async function readAll(backend: Pick<Backend, 'read'>, id: string) {
  const found = { stdout: '', stderr: '' };
  for (let at = 0; ; ) {
    const read = await backend.read(id, at, { waitMs: 10_000, maxBytes: 100_000 });
    for (const { stream, data } of read.chunks) found[stream] += Buffer.from(data).toString('latin1');
    at = read.next;
    if (read.final && at === read.end) return found;
  }
}
