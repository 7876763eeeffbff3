import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { createTestWorker, type TestWorker } from '../../../tests/support/worker.ts';
import { descendantsOf } from '../processes/descendants.ts';
import { listeningPorts } from './listening-ports.ts';

const python = (code: string) => `exec python3 -c '${code}'`;
const waits: Readonly<Record<string, string>> = {
  'reads in bash': 'read -r line',
  'reads in a child': 'cat | cat',
  selects: python('import select, sys; select.select([0], [], [])'),
  'selects for long': python('import select; select.select([0], [], [], 50)'),
  polls: python('import select; p = select.poll(); p.register(0, select.POLLIN); p.poll()'),
  'waits in epoll': python('import select; p = select.epoll(); p.register(0, select.EPOLLIN); p.poll()'),
  'reads in another thread': python(
    'import threading, sys; threading.Thread(target=sys.stdin.readline).start(); threading.Event().wait(60)',
  ),
};
const busy: Readonly<Record<string, string>> = {
  sleeps: 'sleep 60',
  'reads from elsewhere': 'sleep 60 | cat',
  'waits for a child': 'sleep 60 & wait',
  'polls for something else': python(
    'import os, select; r, w = os.pipe(); p = select.poll(); p.register(r, select.POLLIN); p.poll()',
  ),
  'only looks whether there is input': python(
    'import select\nwhile not select.select([0], [], [], 0.1)[0]: pass',
  ),
  'only asks whether there is input': python(
    'import select; p = select.poll(); p.register(0, select.POLLIN)\nwhile not p.poll(100): pass',
  ),
  'serves the network beside': python(
    'import select, socket; s = socket.socket(); s.listen(); p = select.epoll(); p.register(0, select.EPOLLIN); p.register(s, select.EPOLLIN); p.poll()',
  ),
};

describe.each(['group', 'namespace'] as const)('T9: who waits for input, seen from outside (%s)', (level) => {
  let here: TestWorker;
  beforeEach(() => {
    here = createTestWorker({ highestLevel: level });
  });
  afterEach(() => here.close());
  const isAwaiting = async (id: string) => (await here.worker.observe(id)).awaitingInput;
  const poll = (id: string) => expect.poll(() => isAwaiting(id), { timeout: 15_000 });

  test.each(Object.entries(waits))('a command that %s does', async (_, script) => {
    const id = await here.start(script, { stdin: 'open' });
    await poll(id).toBe(true);
    await here.worker.write(id, Buffer.from('a line\n'));
    await here.worker.stop(id, { signal: 'SIGKILL', graceMs: 0 });
    expect(await here.worker.observe(id)).toEqual({ awaitingInput: false, listening: [] });
  });

  test.each(Object.entries(busy))('a command that %s does not', async (_, script) => {
    const id = await here.start(`echo up; ${script}`, { stdin: 'open' });
    await here.worker.read(id, 0, { waitMs: 10_000, maxBytes: 10 });
    for (let look = 0; look < 5; look += 1) {
      expect(await isAwaiting(id)).toBe(false);
      await here.worker.wait(id, 100);
    }
  });

  test('what was written but not taken yet is not waited for', async () => {
    const id = await here.start('read -r line; kill -STOP $$; read -r other', { stdin: 'open' });
    await poll(id).toBe(true);
    await here.worker.write(id, Buffer.from('one\n'));
    await here.worker.wait(id, 300);
    expect(await isAwaiting(id)).toBe(false);
  });

  test('everything that was printed before is in the log by then', async () => {
    for (let round = 0; round < 20; round += 1) {
      const id = await here.start('printf "Name? "; read -r name', { stdin: 'open' });
      while (!(await isAwaiting(id))) await here.worker.wait(id, 1);
      expect((await here.output(id)).stdout).toBe('Name? ');
      await here.worker.stop(id, { signal: 'SIGKILL', graceMs: 0 });
    }
  });
});

test('T9: listening ports are those of the processes that are asked about', async () => {
  const here = createTestWorker();
  const code =
    'import socket, time; s = socket.socket(); s.bind(("127.0.0.1", 0)); s.listen(); print(s.getsockname()[1], flush=True); time.sleep(60)';
  const id = await here.start(python(code));
  await here.worker.read(id, 0, { waitMs: 20_000, maxBytes: 10 });
  const port = Number((await here.output(id)).stdout);
  expect(await here.worker.observe(id)).toEqual({ awaitingInput: false, listening: [port] });
  expect(listeningPorts([2 ** 30])).toEqual([]);
  expect(descendantsOf(2 ** 30)).toEqual([]);
  await here.close();
});

test('SIGINT comes first, then SIGTERM, then SIGKILL', async () => {
  for (const highestLevel of ['group', 'namespace'] as const) {
    const here = createTestWorker({ highestLevel });
    const script = 'trap "echo INT" INT; trap "echo TERM" TERM; echo up; while :; do sleep 0.05; done';
    const id = await here.start(script);
    await here.worker.read(id, 0, { waitMs: 10_000, maxBytes: 10 });
    const { end } = await here.worker.stop(id, { signal: 'SIGINT', graceMs: 500 });
    expect((await here.output(id)).stdout).toBe('up\nINT\nTERM\n');
    expect(end).toMatchObject({ signal: 'SIGKILL', survivors: [] });
    await here.close();
  }
});
