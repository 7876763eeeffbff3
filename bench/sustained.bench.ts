// Sustained load: commands without rest, one after the other and 64 at once, compared with Node's `spawn` of bash. Shells
// that wait are soon used up, so this measures how fast new ones are made.
import { spawn } from 'node:child_process';
import { createBenchEngine, median, report, runIn } from './measure.ts';

const plainSpawn = () =>
  new Promise((resolve) => {
    const child = spawn('bash', ['-c', 'true']);
    child.stdout.resume();
    child.stderr.resume();
    child.on('close', resolve);
  });

const rounds = 6;
const inTurn = 400;
const atOnce = 64;
const { engine, close } = createBenchEngine();
const supervised = () => runIn(engine, 'true');

/** Commands per second if one starts when the one before has ended. */
async function runInTurn(run: () => Promise<unknown>): Promise<number> {
  const start = performance.now();
  for (let count = 0; count < inTurn; count += 1) await run();
  return (inTurn * 1_000) / (performance.now() - start);
}

/** Commands per second if 64 run at the same time. */
async function runAtOnce(run: () => Promise<unknown>): Promise<number> {
  let left = inTurn;
  const start = performance.now();
  const work = async () => {
    while (left > 0) {
      left -= 1;
      await run();
    }
  };
  await Promise.all(Array.from({ length: atOnce }, work));
  return (inTurn * 1_000) / (performance.now() - start);
}

await supervised();
for (const [title, measure, target] of [
  ['one after the other', runInTurn, 1],
  [`${atOnce} at once`, runAtOnce, 2],
] as const) {
  const ratios: number[] = [];
  for (let round = 0; round < rounds; round += 1) {
    const [plain, ours] = [await measure(plainSpawn), await measure(supervised)];
    ratios.push(ours / plain);
    console.log(`${title}: spawn ${plain.toFixed(0)}/s, supervised ${ours.toFixed(0)}/s`);
  }
  report(`commands per second, ${title}, compared with spawn`, median(ratios), target, '×', true);
}
await close();
