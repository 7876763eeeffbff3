import type { Mask } from '../../audit/redact.ts';
import type { Backend } from '../../contract/backend.ts';
import type { Cursor, OutputChunk, ReadResult, Stream } from '../../contract/job.ts';
import { createStopwatch } from '../../support/stopwatch.ts';

// As much before and after what is read as a secret may be long.
const contextBytes = 8_192;

/**
 * A backend whose commands' output shows no secrets, to whoever reads it and however it is cut into pieces. A secret
 * is covered byte for byte, so that cursors mean the same; while a command runs, a last word that may become a secret is
 * held back until it has ended.
 */
export function maskBackend(backend: Backend, maskOf: (id: string) => Mask | undefined): Backend {
  const bytesOf = async (id: string, from: Cursor, maxBytes: number) =>
    maxBytes > 0 ? (await backend.read(id, from, { waitMs: 0, maxBytes })).chunks : [];

  const readMasked = async (id: string, from: Cursor, found: ReadResult, mask: Mask): Promise<ReadResult> => {
    const start = Math.max(0, from - contextBytes);
    const before = await bytesOf(id, start, from - start);
    const after = found.next < found.end ? await bytesOf(id, found.next, contextBytes) : [];
    const isOpen = !found.final && found.next === found.end;
    const all = [...before, ...found.chunks, ...after];
    const held = isOpen ? heldFrom(all, start, mask) : found.next;
    const cut = Math.max(from, Math.min(held, found.next));
    const chunks = slice(cover(all, mask), from - start, cut - start);
    return { ...found, chunks, next: cut, end: isOpen ? cut : found.end };
  };

  return {
    ...backend,
    async read(id, from, options) {
      const elapsed = createStopwatch();
      for (;;) {
        const left = Math.max(0, options.waitMs - elapsed());
        const found = await backend.read(id, from, { ...options, waitMs: left });
        const mask = maskOf(id);
        if (found.next === from || mask === undefined) return found;
        const shown = await readMasked(id, from, found, mask);
        if (shown.next > from || left === 0) return shown;
        await backend.read(id, found.end, { waitMs: left, maxBytes: 1 });
      }
    },
  };
}

/** Where the first byte stands that has to wait, among chunks that begin at a position. */
function heldFrom(chunks: readonly OutputChunk[], start: Cursor, mask: Mask): Cursor {
  const ends = (['stdout', 'stderr'] as const).map((stream) => {
    let open = mask.openEnd(textOf(chunks, stream));
    let at = start + chunks.reduce((sum, { data }) => sum + data.length, 0);
    for (const chunk of [...chunks].reverse()) {
      if (open === 0) break;
      const taken = chunk.stream === stream ? Math.min(open, chunk.data.length) : 0;
      open -= taken;
      at -= open === 0 && taken > 0 ? taken : chunk.data.length;
    }
    return at;
  });
  return Math.min(...ends);
}

function cover(chunks: readonly OutputChunk[], mask: Mask): readonly OutputChunk[] {
  const covered = {
    stdout: mask.hide(textOf(chunks, 'stdout')),
    stderr: mask.hide(textOf(chunks, 'stderr')),
  };
  const at = { stdout: 0, stderr: 0 };
  return chunks.map(({ stream, data }) => {
    const from = at[stream];
    at[stream] += data.length;
    return { stream, data: Buffer.from(covered[stream].slice(from, at[stream]), 'latin1') };
  });
}

function textOf(chunks: readonly OutputChunk[], wanted: Stream): string {
  const parts = chunks.filter(({ stream }) => stream === wanted).map(({ data }) => Buffer.from(data));
  return Buffer.concat(parts).toString('latin1');
}

function slice(chunks: readonly OutputChunk[], from: number, to: number): readonly OutputChunk[] {
  let at = 0;
  return chunks.flatMap(({ stream, data }) => {
    const piece = data.subarray(Math.max(0, from - at), Math.max(0, to - at));
    at += data.length;
    return piece.length > 0 ? [{ stream, data: piece }] : [];
  });
}
