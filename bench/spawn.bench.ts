// What nacre adds to a command: the engine running `true` against Node's own spawn of bash.
import { spawn } from 'node:child_process';
import { createBenchEngine, interleave, median, report, runIn } from './measure.ts';

const plainSpawn = () =>
  new Promise((resolve) => {
    const child = spawn('bash', ['-c', 'true']);
    child.stdout.resume();
    child.stderr.resume();
    child.on('close', resolve);
  });

const { engine, close } = createBenchEngine();
const times = await interleave(300, { spawn: plainSpawn, nacre: () => runIn(engine, 'true') });
console.log(
  `spawn ${median(times.spawn).toFixed(2)} ms, engine ${median(times.nacre).toFixed(2)} ms (p50 of 300)`,
);
report('engine running true against spawn', median(times.nacre) / median(times.spawn), 1.3, '×');
await close();
