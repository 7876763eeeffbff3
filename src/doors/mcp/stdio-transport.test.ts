import { PassThrough } from 'node:stream';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type InputLine, splitLines } from './split-lines.ts';
import { createStdioTransport } from './stdio-transport.ts';

async function open() {
  const [stdin, stdout] = [new PassThrough(), new PassThrough()];
  const transport = createStdioTransport({ stdin, stdout });
  const received: unknown[] = [];
  const errors: string[] = [];
  transport.onmessage = (message) => received.push(message);
  transport.onerror = ({ message }) => errors.push(message);
  await transport.start();
  const feed = async (...texts: (string | Buffer)[]) => {
    for (const text of texts) stdin.write(text);
    await new Promise((resolve) => setImmediate(resolve));
  };
  const sent = () => {
    const text = (stdout.read() ?? '').toString() as string;
    return text
      .split('\n')
      .slice(0, -1)
      .map((line) => JSON.parse(line));
  };
  return { transport, stdin, feed, sent, received, errors };
}

const ping = { jsonrpc: '2.0', id: 1, method: 'ping' } as const;

describe('the stdio transport', () => {
  it('passes on each message, and writes each as one line', async () => {
    const { transport, feed, sent, received } = await open();
    await feed(`${JSON.stringify(ping)}\r\n`, `${JSON.stringify({ ...ping, id: 'two' })}\n\n`);
    expect(received).toEqual([ping, { ...ping, id: 'two' }]);
    await transport.send({ jsonrpc: '2.0', id: 1, result: { text: 'a\nb' } });
    expect(sent()).toEqual([{ jsonrpc: '2.0', id: 1, result: { text: 'a\nb' } }]);
  });

  it('calls onclose, and stops reading', async () => {
    const { transport, feed, received } = await open();
    let closed = 0;
    transport.onclose = () => {
      closed += 1;
    };
    await transport.close();
    await feed(`${JSON.stringify(ping)}\n`);
    expect([closed, received]).toEqual([1, []]);
  });

  it.each<[string, unknown, readonly unknown[], RegExp]>([
    ['a message without a method', { jsonrpc: '2.0', id: 1 }, [1], /method must be a string/],
    ['a message without a version', { id: 'a', method: 'm' }, ['a'], /jsonrpc must be "2\.0"/],
    ['a fraction as id', { ...ping, id: 1.5 }, [1.5], /id must be a string or a whole number/],
    ['a huge number as id', { ...ping, id: 1e308 }, [1e308], /id must be a string or a whole number/],
    ['null as id', { ...ping, id: null }, [null], /id must be a string or a whole number/],
    ['an object as id', { ...ping, id: {} }, [null], /id must be a string or a whole number/],
    ['invalid params', { ...ping, params: [] }, [1], /params must be an object/],
    ['unknown fields', { ...ping, params: {}, extra: 1 }, [1], /unknown fields/],
    ['a batch', [ping, [ping], { ...ping, id: 2 }, 5], [1, 2], /Batches are not supported/],
    ['a malformed result', { jsonrpc: '2.0', id: 1, result: 5 }, [], /not valid JSON-RPC/],
    ['a malformed error', { jsonrpc: '2.0', id: 1, error: 5 }, [], /not valid JSON-RPC/],
    ['a scalar', null, [], /not valid JSON-RPC/],
  ])('E6: replies to %s if it has an id', async (_, value, ids, expected) => {
    const { feed, sent, received, errors } = await open();
    await feed(`${JSON.stringify(value)}\n`);
    const error = { code: -32600, message: expect.stringMatching(expected) };
    expect(sent()).toEqual(ids.map((id) => ({ jsonrpc: '2.0', id, error })));
    expect(errors).toEqual([expect.stringMatching(expected)]);
    expect(received).toEqual([]);
  });

  it('E6: refuses lines that are not JSON or not UTF-8', async () => {
    const { feed, sent, received, errors } = await open();
    const [before = '', after = ''] = JSON.stringify({ ...ping, params: { x: '@' } }).split('@');
    await feed('{"half\n', before, Buffer.from([0xc3, 0x28]), `${after}\n`);
    expect(sent()).toEqual([
      { jsonrpc: '2.0', id: 1, error: { code: -32700, message: expect.stringMatching(/UTF-8/) } },
    ]);
    expect(errors).toEqual([expect.stringMatching(/JSON/), expect.stringMatching(/UTF-8/)]);
    expect(received).toEqual([]);
  });

  it('accepts a deeply nested message', async () => {
    const { feed, received } = await open();
    const deep = `${'{"a":'.repeat(20_000)}1${'}'.repeat(20_000)}`;
    await feed(`{"jsonrpc":"2.0","id":1,"method":"m","params":{"_meta":${deep},"x":${deep}}}\n`);
    expect(received.length).toBe(1);
  });

  it.each<[string, unknown]>([
    ['first', { jsonrpc: '2.0', id: 7, method: 'm', params: { x: 'PAD' } }],
    ['first of all', { id: 'a"b', jsonrpc: '2.0', method: 'm', params: { x: 'PAD' } }],
    ['last', { method: 'm', params: { x: 'PAD', id: 9 }, jsonrpc: '2.0', id: 7 }],
    ['before the version at the end', { method: 'm', params: { x: 'PAD' }, id: -3, jsonrpc: '2.0' }],
  ])('E6: replies to a message that is too long if its id comes %s', async (_, message) => {
    const { feed, sent, received, errors } = await open();
    const [before = '', after = ''] = JSON.stringify(message).split('PAD');
    await feed(before, Buffer.alloc(25_165_824, 0x61), `${after}\n`, `${JSON.stringify(ping)}\n`);
    const { id } = message as { id: unknown };
    expect(sent()).toEqual([
      {
        jsonrpc: '2.0',
        id,
        error: { code: -32600, message: expect.stringMatching(/longer than 25165824 bytes/) },
      },
    ]);
    expect(errors.length).toBe(1);
    expect(received).toEqual([ping]);
  });

  it('does not mistake text inside a long message for its id', async () => {
    const { feed, sent, errors } = await open();
    const padding = 'a'.repeat(25_165_824);
    await feed(`{"jsonrpc":"2.0","method":"m","params":{"x":"${padding}","y":{"id":5}}}\n`);
    await feed(`{"jsonrpc":"2.0","method":"m","params":{"x":"${padding} \\"id\\":5}"}}\n`);
    expect(sent()).toEqual([]);
    expect(errors.length).toBe(2);
  });
});

function linesOf(chunks: readonly Buffer[], maxBytes: number): InputLine[] {
  const lines: InputLine[] = [];
  const push = splitLines(maxBytes, (line) => lines.push(line));
  for (const chunk of chunks) push(chunk);
  return lines;
}

it('finds the same lines for any chunking', () => {
  const bytes = fc
    .uint8Array({ maxLength: 300 })
    .map((array) => array.map((byte) => (byte % 7 === 0 ? 10 : byte)));
  fc.assert(
    fc.property(bytes, fc.array(fc.nat({ max: 300 }), { maxLength: 10 }), (array, places) => {
      const text = Buffer.from(array);
      const cuts = [
        0,
        ...places.map((place) => place % (text.length + 1)).sort((a, b) => a - b),
        text.length,
      ];
      const chunks = cuts.slice(1).map((cut, index) => text.subarray(cuts[index], cut));
      const whole = linesOf(chunks, 1_000).map((line) =>
        line.kind === 'whole' ? line.bytes.toString('latin1') : '',
      );
      expect(whole).toEqual(text.toString('latin1').split('\n').slice(0, -1));
    }),
  );
});

it('returns both ends of a line over the limit, and continues with the next line', () => {
  const long = `start ${'x'.repeat(5_000)} end`;
  for (const size of [1, 700, 10_000]) {
    const text = Buffer.from(`before\n${long}\nafter\n`);
    const chunks = Array.from({ length: Math.ceil(text.length / size) }, (_, index) =>
      text.subarray(index * size, (index + 1) * size),
    );
    const [before, tooLong, after] = linesOf(chunks, 2_000);
    expect(before).toEqual({ kind: 'whole', bytes: Buffer.from('before') });
    expect(tooLong).toEqual({ kind: 'too_long', head: long.slice(0, 1_024), tail: long.slice(-1_024) });
    expect(after).toEqual({ kind: 'whole', bytes: Buffer.from('after') });
  }
});

it('a line of exactly the limit is whole', () => {
  expect(linesOf([Buffer.from('12345\n123456\n')], 5).map(({ kind }) => kind)).toEqual(['whole', 'too_long']);
});
