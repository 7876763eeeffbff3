// Compares exec: auto under a closed list with exec: off, in turn in the same run: a warm command, commands in a row, a persistent
// shell, a terminal, POST /api/shell, and `nacre run`.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { execAllowOf } from '../tests/support/exec-list.ts';
import { collect, createPlace, endOf, type Place } from '../tests/support/nacre.ts';
import { createTestWorker, type TestWorker } from '../tests/support/worker.ts';

const rounds = Number(process.env.NACRE_BENCH_ROUNDS ?? 100);
const inARow = Number(process.env.NACRE_BENCH_ROW ?? 50);
// Long enough for the next shell to be started, so that each command finds one that waits.
const pauseMs = Number(process.env.NACRE_BENCH_PAUSE_MS ?? 100);
const pause = () => new Promise((resolve) => setTimeout(resolve, pauseMs));

// `again` is measured like `off`: its ratio shows how much of a difference is noise.
const names = ['off', 'auto', 'again'] as const;
type Name = (typeof names)[number];
const modeOf = (name: Name) => (name === 'auto' ? 'auto' : 'off');
const each = <T>(make: (name: Name) => T): Record<Name, T> => ({
  off: make('off'),
  auto: make('auto'),
  again: make('again'),
});

const quantile = (values: readonly number[], part: number) =>
  values.toSorted((a, b) => a - b)[Math.floor(values.length * part)] ?? 0;
const median = (values: readonly number[]) => quantile(values, 0.5);
const chosen = process.env.NACRE_BENCH_ONLY ?? '';

/** Runs an action of each kind in turn, in a different order each time, and prints the median of the ratios of a round, and the ratio of the fastest tenths. */
async function compare(what: string, count: number, act: (name: Name) => Promise<unknown>): Promise<void> {
  if (!what.includes(chosen)) return;
  const times = each((): number[] => []);
  for (const name of names) await act(name);
  for (let round = 0; round < count; round++)
    for (const index of [0, 1, 2]) {
      const name = names[(round + index) % 3] ?? 'off';
      await pause();
      const start = performance.now();
      await act(name);
      times[name].push(performance.now() - start);
    }
  const ratio = (name: Name) =>
    median(times[name].map((value, round) => value / (times.off[round] ?? value)));
  const fast = (name: Name) => quantile(times[name], 0.1) / quantile(times.off, 0.1);
  const show = (name: Name) => `${ratio(name).toFixed(3)} / ${fast(name).toFixed(3)}`;
  const [off, auto] = [median(times.off), median(times.auto)].map((value) => value.toFixed(2));
  console.log(`${what}: off ${off} ms, auto ${auto} ms, ratio ${show('auto')} (off again ${show('again')})`);
}

const workers = each(
  (name): TestWorker =>
    createTestWorker({
      ...{
        highestLevel: 'namespace',
        exec: modeOf(name),
        warmShells: 2,
        execAllow: execAllowOf(['ls', 'git']),
      },
      execGuard: `${process.cwd()}/dist/exec-guard.js`,
    }),
);
await compare('warm command', rounds, (name) => workers[name].run(':'));
await compare(`${inARow} commands in a row`, Math.ceil(rounds / 20), async (name) => {
  for (let at = 0; at < inARow; at++) await workers[name].run(':');
});
await compare('persistent shell', rounds, (name) => workers[name].run(':', { session: 'one' }));
const terminal = { cols: 80, rows: 24 };
await compare('terminal', Math.ceil(rounds / 2), (name) => workers[name].run(':', { terminal }));
for (const worker of Object.values(workers)) await worker.close();

const placeOf = (name: Name) =>
  createPlace({ ALLOWED_COMMANDS: 'ls,git', SHELL_ALLOWLIST: 'ls,git', NACRE_EXEC: modeOf(name) });
const places = each(placeOf);
const startReal = (words: readonly string[], place: Place) =>
  spawn(process.execPath, [`${process.cwd()}/dist/cli.js`, ...words], place);
const servers = each((name) => startReal(['serve', '--port', '0', '--json'], places[name]));
const greetings = each(async (name) => {
  const out = collect(servers[name].stdout);
  while (!out.text().includes('\n')) await once(servers[name].stdout, 'data');
  return JSON.parse(out.text()) as { address: string; token: string };
});
await compare('POST /api/shell', rounds, async (name) => {
  const { address, token } = await greetings[name];
  const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' };
  const body = JSON.stringify({ command: 'ls', args: ['-d', '.'] });
  await (await fetch(`${address}/api/shell`, { method: 'POST', headers, body })).text();
});
for (const server of Object.values(servers)) server.kill('SIGTERM');
await compare('nacre run', Math.ceil(rounds / 5), (name) =>
  endOf(startReal(['run', 'ls -d .'], places[name])),
);
