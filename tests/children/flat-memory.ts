// Runs a command with much output and measures how far the memory of this process grows meanwhile.
import { createTestWorker } from '../support/worker.ts';
import { report } from './report.ts';

const bytes = Number(process.argv[2]);
const here = createTestWorker({ spoolBytes: 1_073_741_824 });
await here.run('head -c 8000000 /dev/zero');
const before = process.memoryUsage.rss();
let peak = before;
const timer = setInterval(() => {
  peak = Math.max(peak, process.memoryUsage.rss());
}, 5);
const id = await here.start(`head -c ${bytes} /dev/zero | tr '\\0' x`);
const state = await here.worker.wait(id, 60_000);
const expected = Buffer.alloc(1_048_576, 'x');
let count = 0;
for (let at = 0; ; ) {
  const { chunks, next, end } = await here.worker.read(id, at, { waitMs: 0, maxBytes: 1_048_576 });
  for (const { data } of chunks) count += expected.subarray(0, data.length).equals(data) ? data.length : 0;
  at = next;
  if (next === end) break;
}
clearInterval(timer);
await here.close();
report({
  status: state.status,
  wrote: state.stdoutBytes,
  readBack: count,
  grewMb: Math.round((peak - before) / 1e6),
});
