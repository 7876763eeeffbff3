// Large output: throughput compared with a pipe to /dev/null, and peak memory. The audit log hashes every byte, so the time
// of SHA-256 alone, printed last, is a lower bound.
import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { promisify } from 'node:util';
import { createBenchEngine, interleave, median, report, runIn } from './measure.ts';

const run = promisify(execFile);
const gibibyte = 1_073_741_824;
const sources = {
  'lines of text': `seq -f 'line %.0f of ordinary output' 1 40000000 | head -c ${gibibyte}`,
  'zeros, the fastest source': `head -c ${gibibyte} /dev/zero`,
};

const { engine, close } = createBenchEngine({ spoolBytes: 2 * gibibyte });
await runIn(engine, 'true');
const idleBytes = process.memoryUsage.rss();
let peakBytes = 0;
const sampler = setInterval(() => {
  peakBytes = Math.max(peakBytes, process.memoryUsage.rss());
}, 5);
for (const [source, command] of Object.entries(sources)) {
  const times = await interleave(3, {
    pipe: () => run('bash', ['-c', `${command} | cat > /dev/null`]),
    nacre: () => runIn(engine, command),
  });
  console.log(
    `${source}: pipe ${median(times.pipe).toFixed(0)} ms, nacre ${median(times.nacre).toFixed(0)} ms`,
  );
  report(`1 GiB captured, ${source}`, median(times.pipe) / median(times.nacre), 0.6, '×', true);
  await new Promise((resolve) => setTimeout(resolve, 1_500));
}
clearInterval(sampler);
const zeros = Buffer.alloc(65_536);
const hash = createHash('sha256');
const start = performance.now();
for (let done = 0; done < gibibyte; done += zeros.length) hash.update(zeros);
console.log(`       SHA-256 of 1 GiB alone: ${(performance.now() - start).toFixed(0)} ms`);
report('peak memory above idle', (peakBytes - idleBytes) / 1e6, 60, 'MB');
await close();
