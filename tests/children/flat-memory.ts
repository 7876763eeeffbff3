// Runs a command with much output and measures how much the memory of this process grows.
import { createTestWorker } from '../support/worker.ts';
import { report } from './report.ts';

const bytes = Number(process.argv[2]);
const here = createTestWorker({ spoolBytes: 1_073_741_824 });
const expected = Buffer.alloc(1_048_576, 'x');
// Warm up first: the heap size before the first garbage collection differs between Node versions, and only its growth with
// more output matters.
await pass(67_108_864);
const before = process.memoryUsage.rss();
let peak = before;
const timer = setInterval(() => {
  peak = Math.max(peak, process.memoryUsage.rss());
}, 5);
const { state, readBack } = await pass(bytes);
clearInterval(timer);
await here.close();
report({
  status: state.status,
  wrote: state.stdoutBytes,
  readBack,
  grewMb: Math.round((peak - before) / 1e6),
});

/** Prints `count` bytes on one line and reads them back in pieces. */
async function pass(count: number) {
  const id = await here.start(`head -c ${count} /dev/zero | tr '\\0' x`);
  const state = await here.worker.wait(id, 60_000);
  let readBack = 0;
  for (let at = 0; ; ) {
    const { chunks, next, end } = await here.worker.read(id, at, { waitMs: 0, maxBytes: 1_048_576 });
    for (const { data } of chunks)
      readBack += expected.subarray(0, data.length).equals(data) ? data.length : 0;
    at = next;
    if (next === end) return { state, readBack };
  }
}
