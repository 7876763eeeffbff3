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

const median = (values: number[]) => values.sort((a, b) => a - b)[Math.floor(values.length / 2)] ?? 0;
const workers = { off: open('off'), auto: open('auto') };
for (const worker of Object.values(workers)) for (let at = 0; at < 20; at++) await time(worker);
const warm: Record<'off' | 'auto', number[]> = { off: [], auto: [] };
for (let round = 0; round < rounds; round++)
  for (const name of round % 2 === 0 ? (['off', 'auto'] as const) : (['auto', 'off'] as const)) {
    warm[name].push(await time(workers[name]));
    await pause();
  }
const rows: Record<'off' | 'auto', number[]> = { off: [], auto: [] };
for (let round = 0; round < 3; round++)
  for (const name of ['off', 'auto'] as const) rows[name].push(await timeRow(workers[name]));
const [off, auto] = [median(warm.off), median(warm.auto)];
console.log(
  `warm command: off ${off.toFixed(2)} ms, auto ${auto.toFixed(2)} ms, ratio ${(auto / off).toFixed(3)}`,
);
const [offRow, autoRow] = [median(rows.off), median(rows.auto)];
console.log(
  `${inARow} commands in a row: off ${offRow.toFixed(0)} ms, auto ${autoRow.toFixed(0)} ms, ratio ${(autoRow / offRow).toFixed(3)}`,
);
for (const worker of Object.values(workers)) await worker.close();
