// What background shells cost that run and say nothing: memory and descriptors of ours for each, and a look at one.
import { readdirSync } from 'node:fs';
import { pause } from '../src/support/pause.ts';
import { createBenchEngine, median, report } from './measure.ts';

const count = 1_000;
const { engine, close } = createBenchEngine({ maxRunning: count + 20 });
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
const heapBytes = () => {
  globalThis.gc?.();
  const { heapUsed, external } = process.memoryUsage();
  return heapUsed + external;
};
const descriptors = () => readdirSync('/proc/self/fd').length;

// What is made once is not counted, nor are the shells that wait for the next command.
for (const id of await Promise.all(Array.from({ length: 20 }, start))) await poll(id);
await pause(1_000);
const before = { bytes: heapBytes(), descriptors: descriptors() };
const ids: string[] = [];
while (ids.length < count) ids.push(...(await Promise.all(Array.from({ length: 20 }, start))));
for (const id of ids) await poll(id);
await pause(1_000);
const each = {
  bytes: (heapBytes() - before.bytes) / count,
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
