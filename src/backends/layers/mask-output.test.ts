import fc from 'fast-check';
import { afterEach, describe, expect, it } from 'vitest';
import { createTestEngine, type TestEngine } from '../../../tests/support/engine.ts';
import { createMask } from '../../audit/redact.ts';
import type { Backend } from '../../contract/backend.ts';
import type { OutputChunk } from '../../contract/job.ts';
import { maskOutput } from './mask-output.ts';

const mask = createMask(['two words', 'hunter2-value']);
const open: TestEngine[] = [];
afterEach(async () => {
  await Promise.all(open.splice(0).map((here) => here.close()));
});
const create = () => {
  const here = createTestEngine({ wrap: (backend) => maskOutput(backend, () => mask) });
  open.push(here);
  return here;
};

/** A masked backend with a fixed log. */
const maskedLog = (chunks: readonly OutputChunk[], final: boolean) => {
  const length = chunks.reduce((sum, { data }) => sum + data.length, 0);
  const read: Backend['read'] = async (_, from, { maxBytes }) => {
    let at = 0;
    const to = Math.min(length, from + maxBytes);
    const found = chunks.flatMap(({ stream, data }) => {
      const piece = data.subarray(Math.max(0, from - at), Math.max(0, to - at));
      at += data.length;
      return piece.length > 0 ? [{ stream, data: piece }] : [];
    });
    return { chunks: found, next: Math.max(from, to), end: length, final };
  };
  return maskOutput({ read } as Backend, () => mask);
};
const textOf = (chunks: readonly OutputChunk[]) =>
  chunks.map(({ data }) => Buffer.from(data).toString()).join('');

describe('S6: maskOutput', () => {
  it('masks secrets in replies and in streamed output', async () => {
    const here = create();
    const streamed: string[] = [];
    const { stdout, digests } = await here.run(
      'printf "a hunter2-"; sleep 0.2; echo "value b"; echo TOKEN=abc; printf "two "; sleep 0.2; echo words',
      {},
      { onOutput: async (chunks) => void streamed.push(textOf(chunks)) },
    );
    expect(stdout).toBe('a ************* b\nTOKEN=***\n*********\n');
    expect(streamed.join('')).toBe(stdout);
    expect(digests?.stdout).toMatch(/^[0-9a-f]{64}$/);
  });

  it('does not withhold text that cannot begin a secret', async () => {
    const here = create();
    const id = await here.start('printf "name? "; read x; echo "got $x"');
    const context = { caller: { door: 'cli', client: 'test' }, owner: 'tester' } as const;
    const query = {
      waitMs: 5_000,
      keep: 'beginning',
      view: 'raw',
      maxChars: 1_000,
      howToReadOn: () => '',
    } as const;
    expect(await here.engine.read(id, { ...query, waitFor: 'name' }, context)).toMatchObject({
      stdout: 'name? ',
    });
    await here.engine.write(id, { text: 'me\n', eof: true, secret: false }, context);
    expect(await here.engine.read(id, { ...query, waitFor: 'got' }, context)).toMatchObject({
      stdout: 'got me\n',
    });
  });

  it('masks the same bytes however the output is split, and keeps its length', async () => {
    const pieces = fc.array(
      fc.record({
        stream: fc.constantFrom('stdout', 'stderr'),
        text: fc.constantFrom(
          'hun',
          'ter2-value',
          ' ',
          'two',
          ' wo',
          'rds',
          'x',
          'API_KEY=',
          'abc',
          '\n',
          'ü',
        ),
      }),
      { maxLength: 30 },
    );
    await fc.assert(
      fc.asyncProperty(pieces, fc.integer({ min: 1, max: 20 }), async (given, size) => {
        const chunks = given.map(({ stream, text }) => ({ stream, data: Buffer.from(text) }) as const);
        const at = (stream: string) =>
          Buffer.concat(chunks.filter((one) => one.stream === stream).map(({ data }) => data));
        const backend = maskedLog(chunks, true);
        const seen = { stdout: [] as Uint8Array[], stderr: [] as Uint8Array[] };
        for (let from = 0; ; ) {
          const { chunks: found, next, end } = await backend.read('x', from, { waitMs: 0, maxBytes: size });
          for (const { stream, data } of found) seen[stream].push(data);
          if (next === end) break;
          from = next;
        }
        for (const stream of ['stdout', 'stderr'] as const)
          expect(Buffer.concat(seen[stream]).toString('latin1')).toBe(
            mask.hide(at(stream).toString('latin1')),
          );
      }),
      { numRuns: 300 },
    );
  });

  it('withholds a possible secret at the end while the command runs', async () => {
    const chunks = [{ stream: 'stdout', data: Buffer.from('done hunter2-va') }] as const;
    const backend = maskedLog(chunks, false);
    const first = await backend.read('x', 0, { waitMs: 0, maxBytes: 100 });
    expect([textOf(first.chunks), first.next, first.end]).toEqual(['done ', 5, 5]);
    expect(await backend.read('x', 5, { waitMs: 0, maxBytes: 100 })).toMatchObject({
      chunks: [],
      next: 5,
      end: 5,
    });
    const long = maskedLog([{ stream: 'stderr', data: Buffer.alloc(20_000, 'x') }], false);
    expect(await long.read('x', 0, { waitMs: 0, maxBytes: 30_000 })).toMatchObject({ next: 20_000 });
  });
});
