// The cost of idle background shells: nacre's memory and descriptors for each, and the time to poll one.
import { readdirSync } from 'node:fs';
import { sleep } from '../src/support/timing.ts';
import { createBenchEngine, median, report } from './measure.ts';

const count = 1_000;
const first = 200;
const { engine, close } = createBenchEngine({ maxRunning: count + first });
const caller = { door: 'functions', client: 'bench' } as const;
const rules = { allow: { kind: 'all' }, allowSetting: 'ALLOWED_COMMANDS', danger: 'block' } as const;
const start = async () => {
  const command = { kind: 'shell', script: 'echo up; exec sleep 1000' } as const;
  const request = { command, timeoutMs: null, stdin: 'empty', idPrefix: 'shell' } as const;
  return (await engine.start(request, { caller, owner: 'bench', rules, cwdRoots: [] })).id;
};
const poll = (id: string) =>
  engine.read(
    id,
    { waitMs: 0, maxChars: 30_000, keep: 'beginning', view: 'clean', howToReadOn: () => '' },
    { caller, owner: 'bench' },
  );
// The lowest of several samples, because polling the shells leaves garbage at any time.
const heapBytes = async () => {
  let least = Number.POSITIVE_INFINITY;
  for (let round = 0; round < 10; round += 1) {
    globalThis.gc?.();
    const { heapUsed, external } = process.memoryUsage();
    least = Math.min(least, heapUsed + external);
    await sleep(200);
  }
  return least;
};
const descriptors = () => readdirSync('/proc/self/fd').length;

const startAll = async (wanted: number) => {
  const ids: string[] = [];
  while (ids.length < wanted) ids.push(...(await Promise.all(Array.from({ length: 20 }, start))));
  for (const id of ids) await poll(id);
  await sleep(2_000);
  return ids;
};

// Start some shells first, so that one-time allocations and the warm shells are not counted.
await startAll(first);
const before = { bytes: await heapBytes(), descriptors: descriptors() };
const ids = await startAll(count);
const each = {
  bytes: ((await heapBytes()) - before.bytes) / count,
  descriptors: (descriptors() - before.descriptors) / count,
};
const times: number[] = [];
for (let round = 0; round < 5; round += 1) {
  for (const id of ids) {
    const began = performance.now();
    await poll(id);
    times.push(performance.now() - began);
  }
}
report('memory of an idle background shell', each.bytes / 1_024, 30, 'KB');
report('descriptors of an idle background shell', each.descriptors, 3, '');
report(`a poll of one of ${count} idle background shells`, median(times) * 1e3, 50, 'µs');
await close();
