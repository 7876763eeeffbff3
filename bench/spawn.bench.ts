// The overhead of nacre: the engine runs `true`, supervised and sandboxed, compared with Node's `spawn` of bash.
import { spawn } from 'node:child_process';
import { createBenchEngine, interleave, median, report, runIn } from './measure.ts';

const plainSpawn = () =>
  new Promise((resolve) => {
    const child = spawn('bash', ['-c', 'true']);
    child.stdout.resume();
    child.stderr.resume();
    child.on('close', resolve);
  });

const open = createBenchEngine();
const isolated = createBenchEngine({ sandbox: 'workspace' });
const rounds = 200;
const restMs = 25;
const times = await interleave(
  rounds,
  {
    spawn: plainSpawn,
    supervised: () => runIn(open.engine, 'true'),
    isolated: () => runIn(isolated.engine, 'true'),
  },
  restMs,
);
const [spawned, supervised, sandboxed] = [times.spawn, times.supervised, times.isolated].map(median);
console.log(
  `spawn ${spawned?.toFixed(2)} ms, supervised ${supervised?.toFixed(2)} ms, in a sandbox ${sandboxed?.toFixed(2)} ms (p50 of ${rounds})`,
);
report('supervised true compared with spawn', Number(supervised) / Number(spawned), 1.2, '×');
report('supervised and sandboxed true compared with spawn', Number(sandboxed) / Number(spawned), 1.2, '×');
// Warm shells are started in the background; without a rest between commands their start counts as well.
const busy = await interleave(rounds, { spawn: plainSpawn, isolated: () => runIn(isolated.engine, 'true') });
const together = median(busy.spawn) + median(busy.isolated);
console.log(
  `back to back: spawn ${median(busy.spawn).toFixed(2)} ms, in a sandbox ${median(busy.isolated).toFixed(2)} ms, ${together.toFixed(2)} ms together`,
);
await open.close();
await isolated.close();
