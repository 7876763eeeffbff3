// A worker on another machine that lies, floods or stalls: the near side answers every call in time, stays small, and believes it only
// about its own jobs.
import { once } from 'node:events';
import { expect, onTestFinished, test } from 'vitest';
import { checkState } from '../../src/backends/remote/check-far.ts';
import { createRemoteBackend } from '../../src/backends/remote/create-remote-backend.ts';
import { NacreError } from '../../src/contract/failure.ts';
import { frameKinds, magic } from '../../src/contract/wire.ts';
import { encodeFrame } from '../../src/wire/frames.ts';
import { type IncomingCall, Peer, StreamClosedError } from '../../src/wire/peer.ts';
import { createStreamPair } from '../support/roads.ts';

const honest = (id: string) => ({
  ...{ id, status: 'running', pid: 1, startedAt: '2026-01-01T00:00:00.000Z', durationMs: 1, stdoutBytes: 0 },
  ...{ stderrBytes: 0, withheldEnv: [], enforcement: null, resources: null, end: null },
});
const end = {
  ...{ cause: 'exit', exitCode: 0, signal: null, detail: null, leftRunning: [], kept: [], survivors: [] },
  deniedHosts: [],
};
const hello = { build: 'x', worker: 'worker-1', pid: 1, jobs: [] };

/** A backend whose worker answers calls as `lie` says, and honestly where it returns undefined. */
const face = (lie: (call: IncomingCall, peer: Peer) => unknown) => {
  const peers: Peer[] = [];
  const backend = createRemoteBackend({
    ...{ build: 'x', mode: 'use', options: {}, orphanMs: 1_000, tombstoneMs: 1_000, graceMs: 0 },
    execAllow: () => undefined,
    road: {
      ...{ patienceMs: 500, firstPatienceMs: 500, answerMs: 500, retryMs: 50 },
      async open() {
        const [near, far] = createStreamPair(0);
        const peer: Peer = new Peer(far, {
          async onCall(call) {
            const lied = await lie(call, peer);
            const [first] = call.words as readonly [{ readonly id?: string } | string | undefined];
            const id = typeof first === 'string' ? first : (first?.id ?? '');
            const answers: Record<string, unknown> = {
              hello,
              start: honest(id),
              stop: honest(id),
              state: honest(id),
            };
            return { result: lied === undefined ? (answers[call.method] ?? null) : lied, raw: [] };
          },
          onClose() {},
        });
        peers.push(peer);
        return near;
      },
    },
  });
  onTestFinished(() => backend.close());
  return { backend, peers };
};

const spec = {
  command: { kind: 'shell', script: 'true' },
  cwd: '/',
  env: {},
  stdin: 'empty',
  timeoutMs: null,
} as const;
const startOne = async (backend: ReturnType<typeof face>['backend'], id = 'one') => {
  await backend.prepare({ ...spec, id });
  await backend.start(id);
};

const wrongValues = [
  undefined,
  null,
  -1,
  Number.NaN,
  1e300,
  'x',
  '',
  [],
  {},
  true,
  ['x', 3],
  { length: 1e9 },
];

test.each(Object.keys(honest('one')))(
  'a state with a wrong %s is refused, or has the right type',
  async (field) => {
    for (const wrong of wrongValues) {
      const { backend } = face(({ method }) =>
        method === 'start' ? { ...honest('one'), [field]: wrong } : undefined,
      );
      const state = await startOne(backend)
        .then(() => backend.wait('one', 0))
        .catch((error: unknown) => error);
      if (state instanceof Error) expect(state).toMatchObject({ code: 'resources_unavailable' });
      else
        expect(state).toMatchObject({
          id: 'one',
          durationMs: expect.any(Number),
          stdoutBytes: expect.any(Number),
        });
    }
  },
);

test.each(Object.keys(end))('an end with a wrong %s is refused, or has the right type', async (field) => {
  for (const wrong of wrongValues) {
    const lie = { ...honest('one'), status: 'completed', end: { ...end, [field]: wrong } };
    const { backend } = face(({ method }) => (method === 'start' ? lie : undefined));
    const state = await startOne(backend)
      .then(() => backend.wait('one', 0))
      .catch((error: unknown) => error);
    if (state instanceof Error) expect(state).toMatchObject({ code: 'resources_unavailable' });
    else expect(state).toMatchObject({ id: 'one', end: { leftRunning: expect.any(Array) } });
  }
});

test.each(Object.keys(hello))('an answer to hello with a wrong %s is refused, or harmless', async (field) => {
  for (const wrong of wrongValues) {
    const { backend } = face(({ method }) => (method === 'hello' ? { ...hello, [field]: wrong } : undefined));
    await backend.open().catch((error: unknown) => {
      expect(error).toMatchObject({ code: 'resources_unavailable' });
    });
  }
});

const session = { cwd: '/', shellEnded: false, ran: true, restored: null };
const enforcement = {
  ...{ level: 'group', sandbox: 'off', files: 'off', network: 'on', processes: 'host', setuid: true },
  ...{ exec: 'off', gaps: [] },
};
const resources = { cpuMs: 1, peakMemoryBytes: 1, processes: 1, readBytes: 1, writtenBytes: 1 };
const endRecord = { worker: 'worker-1', key: 'x', startedAt: honest('one').startedAt, signature: 'x' };
const whole = {
  ...{ ...honest('one'), status: 'completed', enforcement, resources, digests: { stdout: 'x', stderr: 'y' } },
  ...{ changesNote: 'x', outlives: true, endRecord: { ...endRecord, endedAt: honest('one').startedAt } },
  end: {
    ...{ ...end, deniedPrograms: ['x'], protectedUse: { refused: ['x'], changed: ['y'] }, changesNote: 'x' },
    leftRunning: [{ pid: 1, command: 'x' }],
    session: {
      ...session,
      restored: { reason: 'ended', variables: 1, functions: 1, aliases: 1, lost: ['x'] },
    },
  },
};

type Path = readonly (string | number)[];

/** The paths of all values in `value`, the outermost first. */
const pathsIn = (value: unknown, at: Path = []): readonly Path[] =>
  typeof value === 'object' && value !== null
    ? [
        ...(at.length > 0 ? [at] : []),
        ...Object.entries(value).flatMap(([key, one]) => pathsIn(one, [...at, key])),
      ]
    : [at];

/** A copy of `value` with another value at a path. */
const withValueAt = (value: unknown, [key, ...rest]: Path, wrong: unknown): unknown => {
  if (key === undefined) return wrong;
  const copy = Array.isArray(value) ? [...value] : { ...(value as Record<string, unknown>) };
  Object.assign(copy, { [key]: withValueAt((value as Record<string, unknown>)[key], rest, wrong) });
  return copy;
};

const typesOf = (value: unknown): unknown =>
  Array.isArray(value)
    ? value.map(typesOf)
    : typeof value === 'object' && value !== null
      ? Object.fromEntries(Object.entries(value).map(([key, one]) => [key, typesOf(one)]))
      : typeof value;

const valueAt = (value: unknown, path: Path): unknown =>
  path.reduce((found: unknown, key) => (found as Record<string | number, unknown>)[key], value);

const isEmpty = (value: unknown) => value === undefined || value === null || JSON.stringify(value) === '[]';

const tryCheck = (state: unknown) => {
  try {
    return checkState(state, 'one');
  } catch (error) {
    expect(error).toMatchObject({ code: 'resources_unavailable' });
    return undefined;
  }
};

test('a state with a wrong value at any depth is refused, or has the right types', async () => {
  const { backend, peers } = face(({ method }) => (method === 'start' ? whole : undefined));
  await startOne(backend);
  expect(await backend.wait('one', 0)).toEqual(whole);
  const refused: unknown[] = [];
  for (const path of pathsIn(whole))
    for (const wrong of wrongValues) {
      const accepted = tryCheck(withValueAt(whole, path, wrong));
      if (accepted === undefined) refused.push(path);
      // Fields may be absent, null or an empty list.
      else if (!isEmpty(wrong) && !isEmpty(valueAt(whole, path)))
        expect([path, wrong, typesOf(accepted)]).toEqual([path, wrong, typesOf(whole)]);
    }
  expect(refused.length).toBeGreaterThan(200);
  expect(peers).toHaveLength(1);
});

test('fields that no honest worker sends are not kept: they could replace the id in replies, or fill this process', async () => {
  const more = { id: 'cmd_of_another_machine', cwd: '/etc', warnings: ['x'], junk: 'x'.repeat(1_000_000) };
  const lie = { ...whole, junk: more.junk, end: { ...whole.end, ...more } };
  const { backend } = face(({ method }) => (method === 'start' ? lie : undefined));
  await startOne(backend);
  expect(await backend.wait('one', 0)).toEqual(whole);
});

const action = { id: 'one' };
const query = { cwd: undefined, roots: [], programs: ['ls'], session: 'me/main' };
const sessionFacts = {
  ...{ cwd: '/', aliases: { a: 'b' }, functions: {}, exportedFunctions: [], variables: { x: '1' } },
  ...{ attributes: {}, arrays: ['x'], options: ['x'], pathUnchanged: true },
};
const placeOf = { asked: '/', path: '/' };
const facts = {
  ...{ cwd: placeOf, roots: [placeOf], home: '/', programs: { ls: '/bin/ls' }, session: sessionFacts },
};
const changesAnswer = {
  ...{ id: 'one', state: 'held', created: 1, changed: 0, deleted: 0, mode: 0, bytes: 1, conflicts: ['x'] },
  changes: [{ kind: 'created', path: 'x', after: { type: 'file', mode: 420, bytes: 1 } }],
};
type Asked = ReturnType<typeof face>['backend'];

test.each<readonly [method: string, answer: unknown, ask: (backend: Asked) => Promise<unknown>]>([
  ['inspect', { facts, fingerprint: 'x' }, (backend) => backend.inspect(query)],
  ['usage', { spoolBytes: 1 }, (backend) => backend.usage()],
  ['listSessions', [{ key: 'a', cwd: '/', status: 'ready' }], (backend) => backend.listSessions()],
  ['closeSession', { survivors: [{ pid: 1, command: 'x' }] }, (backend) => backend.closeSession('a')],
  [
    'listRooms',
    [{ room: 'a', listening: [{ port: 1, command: 'x' }], forwarded: [{ room: 'a', port: 1, hostPort: 2 }] }],
    (backend) => backend.listRooms(),
  ],
  ['scanChanges', changesAnswer, (backend) => backend.scanChanges(action, 10)],
  ['applyChanges', changesAnswer, (backend) => backend.applyChanges(action)],
  ['showChanges', changesAnswer, (backend) => backend.showChanges(action, { maxFiles: 1, maxChars: 1 })],
  ['changesFault', 'x', (backend) => backend.changesFault()],
  ['list', [whole], (backend) => backend.countRunning()],
])(
  'an answer to %s with a wrong value at any depth is refused, or has the right types',
  async (method, answer, ask) => {
    let lied = answer;
    const { backend } = face((call) => (call.method === method ? lied : undefined));
    const honestTypes = typesOf(await ask(backend));
    for (const path of pathsIn(answer))
      for (const wrong of [-1, 1e300, 'x', [], {}, true, ['x', 3]]) {
        lied = withValueAt(answer, path, wrong);
        const result = await ask(backend).catch((error: unknown) => error);
        if (result instanceof Error) expect(result).toMatchObject({ code: 'resources_unavailable' });
        // Malformed entries of a list are left out.
        else if (
          JSON.stringify(result) !== '[]' &&
          JSON.stringify(wrong) !== '[]' &&
          JSON.stringify(wrong) !== '{}'
        )
          expect([path, wrong, typesOf(result)]).toEqual([path, wrong, honestTypes]);
      }
  },
);

test('a result about the changes of another command is refused', async () => {
  const { backend } = face(({ method }) =>
    method === 'undoChanges' ? { ...changesAnswer, id: 'two' } : undefined,
  );
  await expect(backend.undoChanges(action)).rejects.toThrow('in an invalid format');
});

test('a worker that closes the stream instead of answering gets the call for a limited time, with pauses', {
  timeout: 60_000,
}, async () => {
  const { backend, peers } = face(({ method }, peer) => {
    if (method === 'inspect') peer.close();
    return undefined;
  });
  await expect(backend.inspect({ cwd: undefined, roots: [], programs: [] })).rejects.toMatchObject({
    code: 'resources_unavailable',
  });
  // 500 ms with pauses of 50 ms, and some shorter ones at first.
  expect(peers.length).toBeLessThan(20);
});

test('output that never comes ends a read with an error and not with a loop', async () => {
  const lie = { ...honest('one'), status: 'completed', stdoutBytes: 1e12, end };
  let reads = 0;
  const { backend } = face(({ method }) => {
    if (method === 'read') reads += 1;
    if (method === 'read') return { frames: [], next: 0, end: 1e12, final: true };
    return method === 'start' ? lie : undefined;
  });
  await startOne(backend);
  await expect(backend.read('one', 0, { waitMs: 0, maxBytes: 1_000 })).rejects.toThrow(
    'in an invalid format',
  );
  expect(reads).toBe(1);
});

test('a worker cannot report about jobs that it was not given', async () => {
  const { backend, peers } = face(() => undefined);
  await startOne(backend);
  peers[0]?.push({
    event: 'state',
    id: 'other',
    state: { ...honest('other'), status: 'completed', end } as never,
  });
  peers[0]?.push({
    event: 'state',
    id: 'one',
    state: { ...honest('other'), status: 'completed', end } as never,
  });
  // The stream is damaged; over the next one the worker does not know the job.
  expect(await backend.wait('one', 5_000)).toMatchObject({ id: 'one', status: 'lost' });
  await expect(backend.wait('other', 0)).rejects.toMatchObject({ code: 'job_not_found' });
});

const counts = { created: 1, changed: 0, deleted: 0, mode: 0 };
const changes = { ...counts, id: 'one', state: 'held', bytes: 1, changes: [], conflicts: [] };
test.each([
  ['text instead of an object', 'x'],
  ['an unknown state', { ...changes, state: 7 }],
  ['an endless count', { ...changes, created: Number.POSITIVE_INFINITY }],
  ['an object instead of a list', { ...changes, changes: {} }],
  ['a path that is not text', { ...changes, changes: [{ kind: 'created', path: {} }] }],
])('a state whose changes have %s is refused', async (_, wrong) => {
  const ended = { ...honest('one'), status: 'completed', end: { ...end, changes: wrong } };
  const { backend } = face(({ method }) => (method === 'start' ? ended : undefined));
  await expect(startOne(backend)).rejects.toMatchObject({ code: 'resources_unavailable' });
});

test('kept changes that are malformed are left out', async () => {
  const entry = {
    id: 'one',
    state: 'held',
    command: 'x',
    folders: [],
    endedAt: '',
    onTopOf: [],
    bytes: 1,
    counts,
  };
  const listed = [null, 'x', { ...entry, counts: null }, { ...entry, state: 1 }, { ...entry, id: 'two' }];
  const { backend } = face(({ method }) => (method === 'listChanges' ? listed : undefined));
  expect(await backend.listChanges()).toEqual([{ ...entry, id: 'two' }]);
});

const secret = { bytes: 6, first: 1, last: 1, digest: 'x', beginnings: [] };
test.each([
  ['null instead of an object', null],
  ['text instead of a list', { key: 'x', secrets: 'x' }],
  ['too many secrets', { key: 'x', secrets: Array.from({ length: 513 }, () => secret) }],
  ['a secret that is too short', { key: 'x', secrets: [{ ...secret, bytes: 1 }] }],
  ['a secret that is too long', { key: 'x', secrets: [{ ...secret, bytes: 1e9 }] }],
  ['a wrong checksum', { key: 'x', secrets: [{ ...secret, first: Number.NaN }] }],
  ['too many beginnings', { key: 'x', secrets: [{ ...secret, beginnings: Array(65).fill([1, 1]) }] }],
  ['a wrong beginning', { key: 'x', secrets: [{ ...secret, beginnings: [[1e9, 1]] }] }],
])('digests of secrets with %s are refused', async (_, secrets) => {
  const { backend } = face(({ method }) => (method === 'hello' ? { ...hello, secrets } : undefined));
  await expect(backend.open()).rejects.toThrow('in an invalid format');
  expect(backend.secrets()).toBeUndefined();
});

const known = [{ id: 'one', startedAt: '2026-01-01T00:00:00.000Z' }];
const request = { identity: 'me', room: 'me' };
const kept = { id: 'one', state: honest('one'), hide: [], typed: 'x' };

test('a worker cannot add jobs in its answer to takeUp: those without a record are ignored', async () => {
  const more = { ...kept, id: 'two', state: honest('two') };
  const { backend } = face(({ method }) => (method === 'takeUp' ? [more, kept, { id: 'three' }] : undefined));
  const [one, ...rest] = await backend.takeUpKnown(request, known, 5_000);
  expect(one).toMatchObject({ state: { status: 'running' }, typed: 'x', hide: [] });
  expect(rest).toEqual([]);
  await expect(backend.wait('two', 0)).rejects.toMatchObject({ code: 'job_not_found' });
});

test.each([
  ['no such job', 'lost', []],
  ['a state of another job', 'lost', [{ ...kept, state: honest('two') }]],
  ['secrets that are not a list', 'lost', [{ ...kept, hide: 'x' }]],
  ['an object instead of a list', 'unreachable', { one: kept }],
  ['nothing', 'unreachable', null],
])('a worker that answers a take-up with %s leaves the job %s', async (_, status, answer) => {
  const { backend } = face(({ method }) => (method === 'takeUp' ? answer : undefined));
  const [one] = await backend.takeUpKnown(request, known, 1_000);
  expect(one?.state.status).toBe(status);
});

test('calls that are never answered are errors in time, although the worker answers pings', async () => {
  const { backend } = face(({ method }) => (method === 'inspect' ? new Promise(() => {}) : undefined));
  const begun = performance.now();
  await expect(backend.inspect({ cwd: undefined, roots: [], programs: [] })).rejects.toThrow(
    'The worker did not answer the call inspect in time.',
  );
  expect(performance.now() - begun).toBeLessThan(5_000);
});

test('failures have known codes and texts of bounded length', async () => {
  const { backend } = face(({ method }) => {
    if (method === 'inspect') throw Object.assign(new Error('x'.repeat(1e6)), { code: 'root' });
  });
  const error = await backend
    .inspect({ cwd: undefined, roots: [], programs: [] })
    .catch((one: unknown) => one);
  expect(error).toMatchObject({ code: 'internal' });
  expect((error as Error).message.length).toBeLessThan(10_000);
});

test('details of failures are not believed, because the audit log and replies read them', async () => {
  const { backend } = face(({ method }) => {
    const details = { node: null, remedy: 5, rule: {} };
    if (method === 'inspect') throw new NacreError('invalid_request', 'It lies.', { details });
  });
  const asked = backend.inspect({ cwd: undefined, roots: [], programs: [] });
  await expect(asked).rejects.toMatchObject({ message: 'It lies.', details: {} });
});

test('a flood of tiny pieces and of pings does not fill this process', { timeout: 60_000 }, async () => {
  const { backend, peers } = face(() => undefined);
  await startOne(backend);
  const before = process.memoryUsage().rss;
  for (let at = 0; at < 200_000; at += 1) {
    const stream = at % 2 === 0 ? 'stdout' : 'stderr';
    peers[0]?.push({ event: 'output', id: 'one', cursor: at, frames: [[stream, 1]] }, [Buffer.from('x')]);
    if (at % 1_000 === 0) await new Promise((resolve) => setImmediate(resolve));
  }
  await expect
    .poll(async () => (await backend.wait('one', 0)).stdoutBytes, { timeout: 30_000 })
    .toBe(100_000);
  expect(process.memoryUsage().rss - before).toBeLessThan(300e6);
});

test('a worker that makes calls is disconnected: it could leave their answers unread until they fill this process', async () => {
  const { backend, peers } = face(() => undefined);
  await startOne(backend);
  const refused = peers[0]?.call(7, 'read', ['one', 0, 10]);
  await expect(refused).rejects.toBeInstanceOf(StreamClosedError);
  expect(peers[0]?.isClosed).toBe(true);
});

test('a near side does not queue pongs for a worker that reads nothing', async () => {
  const [near, far] = createStreamPair(0);
  const { Duplex } = await import('node:stream');
  let written = 0;
  // Takes nothing until the end.
  const stuck = new Duplex({
    read() {},
    write(data: Buffer) {
      written += data.length;
    },
  });
  near.destroy();
  far.destroy();
  const peer = new Peer(stuck, { onClose() {} });
  stuck.push(Buffer.from(magic, 'latin1'));
  const pings = Buffer.concat(
    Array.from({ length: 10_000 }, () => encodeFrame(frameKinds.ping, 0, undefined)).flat() as Buffer[],
  );
  for (let round = 0; round < 50; round += 1) stuck.push(pings);
  await once(stuck, 'data');
  await new Promise((resolve) => setTimeout(resolve, 500));
  expect(stuck.writableLength).toBeLessThan(2_000_000);
  expect(written).toBeLessThan(1_000);
  peer.close();
});
