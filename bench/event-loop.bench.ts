// The longest task on the event loop while 64 commands run at once in a program with 1 GB of heap, compared with Node's
// `spawn`, which blocks while the kernel copies the page tables of the whole heap.
import { spawn } from 'node:child_process';
import { monitorEventLoopDelay } from 'node:perf_hooks';
import { createBenchEngine, median, report, runIn } from './measure.ts';

const heap = Array.from({ length: 64 }, (_, block) =>
  Array.from({ length: 131_072 }, (_, entry) => ({ block, entry, text: `entry ${entry} of block ${block}` })),
);
const heapBytes = process.memoryUsage().heapUsed;
const { engine, close } = createBenchEngine();
await runIn(engine, 'true');

const plainSpawn = () =>
  new Promise((resolve) => {
    const child = spawn('bash', ['-c', 'true']);
    child.stdout.resume();
    child.stderr.resume();
    child.on('close', resolve);
  });

/** The longest and the 99th percentile of the delays of the event loop, in ms, while 400 commands run, 64 at once. */
async function delaysOf(run: () => Promise<unknown>): Promise<{ max: number; p99: number }> {
  const resolutionMs = 1;
  const monitor = monitorEventLoopDelay({ resolution: resolutionMs });
  monitor.enable();
  let left = 400;
  const work = async () => {
    while (left > 0) {
      left -= 1;
      await run();
    }
  };
  await Promise.all(Array.from({ length: 64 }, work));
  monitor.disable();
  return { max: monitor.max / 1e6 - resolutionMs, p99: monitor.percentile(99) / 1e6 - resolutionMs };
}

const rounds = 3;
const [ours, plain] = [[], []] as { max: number; p99: number }[][];
for (let round = 0; round < rounds; round += 1) {
  plain?.push(await delaysOf(plainSpawn));
  ours?.push(await delaysOf(() => runIn(engine, 'true')));
}
const middle = (figures: { max: number; p99: number }[] = [], key: 'max' | 'p99') =>
  median(figures.map((each) => each[key]));
console.log(`heap ${(heapBytes / 1e6).toFixed(0)} MB in ${heap.length} blocks`);
console.log(
  `spawn: longest ${middle(plain, 'max').toFixed(1)} ms, p99 ${middle(plain, 'p99').toFixed(1)} ms`,
);
console.log(`nacre: longest ${middle(ours, 'max').toFixed(1)} ms, p99 ${middle(ours, 'p99').toFixed(1)} ms`);
report('the longest task on the event loop with 64 commands at once', middle(ours, 'max'), 5, 'ms');
await close();
