import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { needLevel, needPrograms } from '../../../tests/support/needs.ts';
import { soakCount } from '../../../tests/support/soak.ts';
import { createTestWorker, type TestWorker } from '../../../tests/support/worker.ts';
import { descendantsOf } from '../processes/descendants.ts';
import { listeningPorts } from './listening-ports.ts';

const python = (code: string) => `exec python3 -c '${code}'`;
const blocked: Readonly<Record<string, string>> = {
  'reads in bash': 'read -r line',
  'reads in a child': 'cat | cat',
  'calls select': python('import select, sys; select.select([0], [], [])'),
  'calls select with a long timeout': python('import select; select.select([0], [], [], 50)'),
  'calls poll': python('import select; p = select.poll(); p.register(0, select.POLLIN); p.poll()'),
  'waits in epoll': python('import select; p = select.epoll(); p.register(0, select.EPOLLIN); p.poll()'),
  'reads in another thread': python(
    'import threading, sys; threading.Thread(target=sys.stdin.readline).start(); threading.Event().wait(60)',
  ),
};
const busy: Readonly<Record<string, string>> = {
  sleeps: 'sleep 60',
  'reads from another file': 'sleep 60 | cat',
  'waits for a child': 'sleep 60 & wait',
  'polls another file': python(
    'import os, select; r, w = os.pipe(); p = select.poll(); p.register(r, select.POLLIN); p.poll()',
  ),
  'checks for input with a short select': python(
    'import select\nwhile not select.select([0], [], [], 0.1)[0]: pass',
  ),
  'checks for input with a short poll': python(
    'import select; p = select.poll(); p.register(0, select.POLLIN)\nwhile not p.poll(100): pass',
  ),
  'also waits for a socket': python(
    'import select, socket; s = socket.socket(); s.listen(); p = select.epoll(); p.register(0, select.EPOLLIN); p.register(s, select.EPOLLIN); p.poll()',
  ),
};

// One command of each kind is enough where the level only decides which processes are visible.
const atEveryLevel = new Set(['reads in bash', 'reads in a child', 'sleeps', 'reads from another file']);

describe.each(['group', 'namespace'] as const)('T9: detection of waiting for input (%s)', (level) => {
  let here: TestWorker;
  beforeAll(() => {
    here = createTestWorker({ highestLevel: level });
  });
  beforeEach(async (context) => {
    await needLevel(context, level);
    needPrograms(context, 'python3');
  });
  afterAll(() => here.close());
  const isAwaiting = async (id: string) => (await here.worker.observe(id)).awaitingInput;
  const poll = (id: string) => expect.poll(() => isAwaiting(id), { timeout: 15_000 });
  const kill = (id: string) => here.worker.stop(id, { signal: 'SIGKILL', graceMs: 0 });
  const casesOf = (cases: Readonly<Record<string, string>>) =>
    Object.entries(cases).filter(([name]) => level === 'namespace' || atEveryLevel.has(name));

  test.each(casesOf(blocked))('a command that %s is waiting', async (_, script) => {
    const id = await here.start(script, { stdin: 'open' });
    await poll(id).toBe(true);
    await here.worker.write(id, Buffer.from('a line\n'));
    await kill(id);
    expect(await here.worker.observe(id)).toEqual({ awaitingInput: false, listening: [] });
  });

  test.each(casesOf(busy))('a command that %s is not waiting', async (_, script) => {
    const id = await here.start(`echo up; ${script}`, { stdin: 'open' });
    await here.worker.read(id, 0, { waitMs: 10_000, maxBytes: 10 });
    for (let check = 0; check < 5; check += 1) {
      expect(await isAwaiting(id)).toBe(false);
      await here.worker.wait(id, 60);
    }
    await kill(id);
  });

  test('a command that has not read its input yet is not waiting', async () => {
    const id = await here.start('read -r line; kill -STOP $$; read -r other', { stdin: 'open' });
    await poll(id).toBe(true);
    await here.worker.write(id, Buffer.from('one\n'));
    await here.worker.wait(id, 300);
    expect(await isAwaiting(id)).toBe(false);
    await kill(id);
  });

  test('the earlier output of a waiting command is in the log', async () => {
    for (let round = 0; round < soakCount(100, 10); round += 1) {
      const id = await here.start('printf "Name? "; read -r name', { stdin: 'open' });
      while (!(await isAwaiting(id))) await here.worker.wait(id, 1);
      expect((await here.output(id)).stdout).toBe('Name? ');
      await kill(id);
    }
  });
});

test('T9: listening ports are those of the given processes', async (context) => {
  needPrograms(context, 'python3');
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

test.for(['group', 'namespace'] as const)(
  'a stop sends SIGINT first, then SIGTERM, then SIGKILL (%s)',
  async (level, context) => {
    await needLevel(context, level);
    const here = createTestWorker({ highestLevel: level });
    const script = 'trap "echo INT" INT; trap "echo TERM" TERM; echo up; while :; do sleep 0.05; done';
    const id = await here.start(script);
    await here.worker.read(id, 0, { waitMs: 10_000, maxBytes: 10 });
    const { end } = await here.worker.stop(id, { signal: 'SIGINT', graceMs: 500 });
    expect((await here.output(id)).stdout).toBe('up\nINT\nTERM\n');
    expect(end).toMatchObject({ signal: 'SIGKILL', survivors: [] });
    await here.close();
  },
);
