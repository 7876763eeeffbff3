// Sustained load: commands without rest, one after the other and 64 at once, compared with Node's `spawn` of bash. Shells
// that wait are soon used up, so this measures how fast new ones are made.
import { spawn } from 'node:child_process';
import { createBenchEngine, median, perSecond, report, runIn } from './measure.ts';

const plainSpawn = () =>
  new Promise((resolve) => {
    const child = spawn('bash', ['-c', 'true']);
    child.stdout.resume();
    child.stderr.resume();
    child.on('close', resolve);
  });

const rounds = 6;
const count = 400;
const { engine, close } = createBenchEngine();
const supervised = () => runIn(engine, 'true');

await supervised();
for (const [title, atOnce, target] of [
  ['one after the other', 1, 1],
  ['64 at once', 64, 2],
] as const) {
  const ratios: number[] = [];
  for (let round = 0; round < rounds; round += 1) {
    const plain = await perSecond(plainSpawn, { count, atOnce });
    const ours = await perSecond(supervised, { count, atOnce });
    ratios.push(ours / plain);
    console.log(`${title}: spawn ${plain.toFixed(0)}/s, supervised ${ours.toFixed(0)}/s`);
  }
  report(`commands per second, ${title}, compared with spawn`, median(ratios), target, '×', true);
}
await close();
