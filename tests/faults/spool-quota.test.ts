import { expect, test } from 'vitest';
import type { ServerMessage } from '../../src/doors/http/stream/messages.ts';
import { pump } from '../../src/doors/http/stream/pump.ts';
import type { Engine } from '../../src/engine/engine.ts';
import { createTestEngine } from '../support/engine.ts';

const me = { caller: { door: 'cli', client: 'test' }, owner: 'tester' } as const;
const query = { maxChars: 500, keep: 'beginning', view: 'clean', howToReadOn: () => '', waitMs: 0 } as const;

test('outputs of ended commands are removed to make room for running ones, and their readers are notified', async () => {
  const here = createTestEngine({
    // The near side of every other road has its own copy of the beginning; tests/outlive/disk-space.test.ts is for those.
    road: 'process',
    worker: { ringBytes: 65_536, spoolBytes: 1_500_000, spoolTotalBytes: 3_000_000 },
  });
  const print = async () => {
    // 1,288,895 bytes.
    const id = await here.start('seq 200000');
    await expect
      .poll(async () => (await here.engine.observe(id, me)).state.status, { timeout: 20_000 })
      .toBe('completed');
    return id;
  };
  const ids = [await print(), await print(), await print(), await print()];
  const texts = await Promise.all(ids.map(async (id) => (await here.engine.read(id, query, me)).stdout));
  // The quota has room for two of them.
  for (const text of texts.slice(0, 2))
    expect(text).toMatch(/^\[\d+ bytes of output are gone: running commands/);
  for (const text of texts.slice(2)) expect(text).toMatch(/^1\n2\n3\n/);
  const [first = ''] = ids;
  const more = await here.engine.read(first, { ...query, maxChars: 200_000 }, me);
  expect(more.stdout).not.toContain('are gone');
  const again = await here.engine.read(first, { ...query, cursor: 0, keep: 'end' }, me);
  expect(again.stdout).toMatch(/200000\n$/);
  const errors = await here.engine.read(ids[1] ?? '', { ...query, stream: 'stderr', cursor: 0 }, me);
  expect(errors).toMatchObject({
    stdout: '',
    stderr: expect.stringMatching(/^\[\d+ bytes of output are gone/),
  });
  await expectStreamToTell(here.engine, first);
  await here.close();
});

// A stream has cursors of its own, which must be true after the removed part too.
async function expectStreamToTell(engine: Engine, commandId: string): Promise<void> {
  const sent: ServerMessage[] = [];
  const send = async (message: ServerMessage) => sent.push(message) > 0;
  const command = {
    id: 'one',
    commandId,
    format: 'raw',
    isEndless: false,
    context: me,
    done() {},
  } as const;
  await pump(engine, command, 0, { send, signal: new AbortController().signal });
  const [gone, ...rest] = sent;
  expect(gone).toMatchObject({ type: 'shell.gone', bytes: expect.any(Number), cursor: expect.any(Number) });
  expect(gone).toHaveProperty('cursor', gone?.type === 'shell.gone' ? gone.bytes : 0);
  expect(rest.at(-1)).toMatchObject({ type: 'shell.exit', cursor: 1_288_895 });
}
