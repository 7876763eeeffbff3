import { createValueMask, type Mask } from '../../audit/redact.ts';
import type { Backend } from '../../contract/backend.ts';
import type { Cursor, OutputChunk, ReadResult, Stream } from '../../contract/job.ts';
import { createStopwatch } from '../../support/timing.ts';

// Longest secret that is masked: bytes of context read on each side, so that one cut in two is found.
const contextBytes = 8_192;

/**
 * A backend whose `read` masks secrets, wherever a read cuts the output. A mask has the length of the secret, so cursors
 * stay valid. While a command runs, a last word that may become a secret is withheld until it is complete.
 */
export function maskOutput(backend: Backend, maskOf: (id: string) => Mask | undefined): Backend {
  const bytesOf = async (id: string, from: Cursor, maxBytes: number) =>
    maxBytes > 0 ? (await backend.read(id, from, { waitMs: 0, maxBytes })).chunks : [];

  const readMasked = async (id: string, from: Cursor, found: ReadResult, mask: Mask): Promise<ReadResult> => {
    const start = Math.max(found.goneBefore ?? 0, from - contextBytes);
    const before = await bytesOf(id, start, from - start);
    const after = found.next < found.end ? await bytesOf(id, found.next, contextBytes) : [];
    const isOpen = !found.final && found.next === found.end;
    const all = [...before, ...found.chunks, ...after];
    const withheld = isOpen ? withheldFrom(all, start, mask) : found.next;
    const cut = Math.max(from, Math.min(withheld, found.next));
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
        if (found.chunks.length === 0 || mask === undefined) return found;
        const masked = await readMasked(id, from, found, mask);
        if (masked.next > from || left === 0) return masked;
        // Everything is withheld: wait for more output before masking again.
        await backend.read(id, found.end, { waitMs: left, maxBytes: 1 });
      }
    },
  };
}

/** A backend that masks text typed with `WriteOptions.hide`: a terminal echoes it and programs may repeat it. */
export function hideTypedSecrets(backend: Backend): Backend {
  const typed = new Map<string, { readonly secrets: ReadonlySet<string>; readonly mask: Mask }>();
  const add = (id: string, hide: readonly string[] = []) => {
    const known = typed.get(id)?.secrets;
    if (hide.every((secret) => known?.has(secret))) return;
    const secrets = new Set([...(known ?? []), ...hide]);
    typed.set(id, { secrets, mask: createValueMask([...secrets]) });
  };
  const learning: Backend = {
    ...backend,
    async read(id, from, query) {
      const found = await backend.read(id, from, query);
      add(id, found.hide);
      return found;
    },
  };
  const masked = maskOutput(learning, (id) => typed.get(id)?.mask);
  return {
    ...masked,
    write(id, data, options) {
      add(id, options?.hide);
      return backend.write(id, data, options);
    },
    async takeUp(request) {
      const commands = await backend.takeUp(request);
      for (const { id, hide } of commands) add(id, hide);
      return commands;
    },
    dispose(id) {
      typed.delete(id);
      return backend.dispose(id);
    },
  };
}

/** Cursor of the first byte that may belong to an incomplete secret, among chunks that begin at `start`. */
function withheldFrom(chunks: readonly OutputChunk[], start: Cursor, mask: Mask): Cursor {
  const ends = (['stdout', 'stderr'] as const).map((stream) => {
    let open = mask.openEnd(textOf(chunks, stream));
    let at = start + chunks.reduce((sum, { data }) => sum + data.length, 0);
    for (const chunk of [...chunks].reverse()) {
      if (open === 0) break;
      const covered = chunk.stream === stream ? Math.min(open, chunk.data.length) : 0;
      open -= covered;
      at -= open === 0 && covered > 0 ? covered : chunk.data.length;
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

// latin1 maps each byte to one character, so offsets in the text are offsets in the log.
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
