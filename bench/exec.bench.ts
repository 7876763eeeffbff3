// Compares a warm command with exec: auto under a closed list with one under exec: off, in turn in the same process.
import { execAllowOf } from '../tests/support/exec-list.ts';
import { createTestWorker, type TestWorker } from '../tests/support/worker.ts';

const rounds = Number(process.env.NACRE_BENCH_ROUNDS ?? 300);
const inARow = Number(process.env.NACRE_BENCH_ROW ?? 200);
// Long enough for the next shell to be started, so that each command finds one that waits.
const pauseMs = Number(process.env.NACRE_BENCH_PAUSE_MS ?? 100);
const pause = () => new Promise((resolve) => setTimeout(resolve, pauseMs));

const open = (exec: 'off' | 'auto') =>
  createTestWorker({
    ...{ highestLevel: 'namespace', exec, execAllow: execAllowOf(['ls', 'git']), warmShells: 2 },
    execGuard: `${process.cwd()}/dist/exec-guard.js`,
  });

async function time(worker: TestWorker): Promise<number> {
  const start = performance.now();
  await worker.run(':');
  return performance.now() - start;
}

async function timeRow(worker: TestWorker): Promise<number> {
  const start = performance.now();
  for (let at = 0; at < inARow; at++) await worker.run(':');
  return performance.now() - start;
}

const median = (values: readonly number[]) =>
  values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] ?? 0;
// `again` is a second worker like `off`: its ratio shows how much of a difference is noise.
const workers = { off: open('off'), auto: open('auto'), again: open('off') };
const names = ['off', 'auto', 'again'] as const;
type Times = Record<(typeof names)[number], number[]>;

function report(what: string, { off, auto, again }: Times): void {
  const ratio = (values: readonly number[]) =>
    median(values.map((value, round) => value / (off[round] ?? value)));
  console.log(
    `${what}: off ${median(off).toFixed(2)} ms, auto ${median(auto).toFixed(2)} ms, ratio ${ratio(auto).toFixed(3)} (off again ${ratio(again).toFixed(3)})`,
  );
}

for (const name of names) for (let at = 0; at < 20; at++) await time(workers[name]);
const warm: Times = { off: [], auto: [], again: [] };
for (let round = 0; round < rounds; round++)
  for (const index of [0, 1, 2]) {
    const name = names[(round + index) % 3] ?? 'off';
    warm[name].push(await time(workers[name]));
    await pause();
  }
report('warm command', warm);
const rows: Times = { off: [], auto: [], again: [] };
for (let round = 0; round < 5; round++)
  for (const name of names) rows[name].push(await timeRow(workers[name]));
report(`${inARow} commands in a row`, rows);
for (const worker of Object.values(workers)) await worker.close();
