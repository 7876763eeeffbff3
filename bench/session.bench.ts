// The overhead of a persistent shell: a builtin compared with a ping-pong of one byte between two processes, and
// /bin/true compared with posix_spawn() of it.
import { spawn } from 'node:child_process';
import { createInterface } from 'node:readline';
import { createBenchEngine, median, report, runIn } from './measure.ts';

const bare = spawn('python3', ['bench/bare.py'], { stdio: ['pipe', 'pipe', 'inherit'] });
const lines = createInterface({ input: bare.stdout })[Symbol.asyncIterator]();
const timeBare = async (operation: 'p' | 's') => {
  bare.stdin.write(operation);
  return Number((await lines.next()).value) / 1e6;
};
const time = async (step: () => Promise<unknown>) => {
  const start = performance.now();
  await step();
  return performance.now() - start;
};

const { engine, close } = createBenchEngine();
const inSession = (script: string) => runIn(engine, script, { session: 'bench/main' });
const rounds = 400;
const times = {
  pingPong: [] as number[],
  builtin: [] as number[],
  posixSpawn: [] as number[],
  program: [] as number[],
};
await inSession(':');
for (let round = 0; round < rounds; round += 1) {
  times.pingPong.push(await timeBare('p'));
  times.builtin.push(await time(() => inSession(':')));
  times.posixSpawn.push(await timeBare('s'));
  times.program.push(await time(() => inSession('/bin/true')));
}
const [pingPong, builtin, posixSpawn, program] = Object.values(times).map(median) as [
  number,
  number,
  number,
  number,
];
console.log(
  `ping-pong ${(pingPong * 1e3).toFixed(0)} µs, builtin ${(builtin * 1e3).toFixed(0)} µs, posix_spawn ${posixSpawn.toFixed(2)} ms, /bin/true ${program.toFixed(2)} ms (p50 of ${rounds})`,
);
report('a builtin in a warm session compared with a ping-pong', builtin / pingPong, 20, '×');
report('/bin/true in a session compared with posix_spawn', program / posixSpawn, 1.2, '×');
await close();
bare.stdin.end();
