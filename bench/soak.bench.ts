// A long mix of commands of every kind (`npm run bench -- soak`, 50,000 by default, NACRE_SOAK_COMMANDS=N for fewer). The table
// shows whether memory, descriptors, processes and folders stay flat after the first tenth.
import { readdirSync, readFileSync } from 'node:fs';
import { sleep } from '../src/support/timing.ts';
import { childrenOf, descendantsOf } from '../src/worker/processes/descendants.ts';
import { createBenchEngine, report, runIn } from './measure.ts';

const total = Number(process.env.NACRE_SOAK_COMMANDS ?? 50_000);
const warmUp = total / 10;
const every = total / 20;
const parallel = 4;
const { engine, folder, close } = createBenchEngine();
const caller = { door: 'functions', client: 'bench' } as const;
const rules = { allow: { kind: 'all' }, allowSetting: 'ALLOWED_COMMANDS', danger: 'block' } as const;
const owned = { caller, owner: 'bench' } as const;
const terminal = { cols: 80, rows: 24 } as const;
const query = { maxChars: 30_000, keep: 'beginning', view: 'clean', howToReadOn: () => '' } as const;

async function background(script: string, more: { readonly terminal?: typeof terminal } = {}): Promise<void> {
  const command = { kind: 'shell', script } as const;
  const request = { command, timeoutMs: 60_000, stdin: 'open', idPrefix: 'shell', ...more } as const;
  const { id } = await engine.start(request, { ...owned, rules, cwdRoots: [] });
  await engine.read(id, { ...query, waitMs: 10_000, waitFor: 'up' }, owned);
  await engine.stop(id, { signal: 'SIGTERM', graceMs: 200 }, owned);
  await engine.forget(id, owned);
}

const timedOut = () =>
  engine.run(
    { command: { kind: 'shell', script: 'sleep 61; sleep 62' }, timeoutMs: 20, maxOutputChars: 1_000 },
    { caller, rules, cwdRoots: [], howToGetRest: '' },
  );

// The share of each kind among 50 commands.
const kinds: readonly (readonly [count: number, run: (worker: number) => Promise<unknown>])[] = [
  [24, () => runIn(engine, 'true')],
  [8, () => runIn(engine, 'seq 100 | sort -n | tail -1; exit 3')],
  [8, (worker) => runIn(engine, 'x=$((x + 1)); echo $x', { session: `session ${worker}` })],
  [2, () => runIn(engine, 'seq 60000')],
  [2, () => runIn(engine, '(sleep 63 & sleep 64 &); true')],
  [3, () => background('echo up; sleep 65')],
  [2, () => background('echo up; sleep 66', { terminal })],
  [1, timedOut],
];
const mix = kinds.flatMap(([count, run]) => Array.from({ length: count }, () => run));

interface Sample {
  readonly done: number;
  readonly rssMb: number;
  readonly heapMb: number;
  readonly descriptors: number;
  readonly processes: number;
  readonly helpersMb: number;
  readonly zombies: number;
  readonly files: number;
}

const mb = (bytes: number) => Math.round(bytes / 104_857.6) / 10;

/** Waits until nothing runs, so that two samples are comparable. */
async function sample(done: number): Promise<Sample> {
  await sleep(2_500);
  globalThis.gc?.();
  const { rss, heapUsed } = process.memoryUsage();
  const below = descendantsOf(process.pid);
  const helpers = childrenOf(process.pid).reduce((sum, pid) => sum + residentBytes(pid), 0);
  return {
    done,
    rssMb: mb(rss),
    heapMb: mb(heapUsed),
    descriptors: readdirSync('/proc/self/fd').length,
    processes: below.length,
    helpersMb: mb(helpers),
    zombies: below.filter(isZombie).length,
    files: readdirSync(folder, { recursive: true }).filter((name) => !String(name).includes('audit')).length,
  };
}

function residentBytes(pid: number): number {
  return Number(/VmRSS:\s+(\d+)/.exec(readOrEmpty(`/proc/${pid}/status`))?.[1] ?? 0) * 1_024;
}

function isZombie(pid: number): boolean {
  return /\) [ZX] /.test(readOrEmpty(`/proc/${pid}/stat`));
}

function readOrEmpty(path: string): string {
  try {
    return readFileSync(path, 'latin1');
  } catch {
    return '';
  }
}

let begun = 0;
async function work(worker: number, until: number): Promise<void> {
  while (begun < until) {
    const index = begun++;
    // 17 and 50 have no common divisor, so the kinds are mixed evenly.
    await mix[(index * 17) % mix.length]?.(worker);
  }
}

const samples: Sample[] = [];
while (begun < total) {
  const until = Math.min(total, begun + every);
  await Promise.all(Array.from({ length: parallel }, (_, worker) => work(worker, until)));
  samples.push(await sample(begun));
  console.table(samples.slice(-1));
}
console.table(samples);
const settled = samples.filter(({ done }) => done >= warmUp);
const growth = (of: (one: Sample) => number) => {
  const half = settled.length >> 1;
  const most = (some: readonly Sample[]) => Math.max(...some.map(of));
  return most(settled.slice(half)) - most(settled.slice(0, half));
};
report(
  `growth of RSS after ${warmUp} of ${total} commands`,
  growth(({ rssMb }) => rssMb),
  10,
  'MB',
);
report(
  'growth of the heap',
  growth(({ heapMb }) => heapMb),
  3,
  'MB',
);
report(
  'growth of descriptors',
  growth(({ descriptors }) => descriptors),
  8,
  '',
);
report(
  'growth of processes',
  growth(({ processes }) => processes),
  2,
  '',
);
report(
  'growth of files and folders',
  growth(({ files }) => files),
  300,
  '',
);
report('zombies', Math.max(...settled.map(({ zombies }) => zombies)), 0, '');
await close();
