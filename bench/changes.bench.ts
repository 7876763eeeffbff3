// The overhead of layers: commands whose changes are tracked, compared with the same commands that change files directly.
import { execFileSync } from 'node:child_process';
import { join } from 'node:path';
import { createBenchEngine, interleave, median, report, runIn } from './measure.ts';

const [direct, track, hold] = (['direct', 'track', 'hold'] as const).map((changes) =>
  createBenchEngine({ changes }),
) as [Bench, Bench, Bench];
type Bench = ReturnType<typeof createBenchEngine>;

const restMs = 50;
const compare = async (script: string, rounds: number) => {
  const times = await interleave(
    rounds,
    { direct: () => runIn(direct.engine, script), track: () => runIn(track.engine, script) },
    restMs,
  );
  return { direct: median(times.direct), track: median(times.track) };
};

const nothing = await compare('true', 200);
console.log(
  `true: direct ${nothing.direct.toFixed(2)} ms, track ${nothing.track.toFixed(2)} ms (p50 of 200)`,
);
report('a tracked true compared with a direct one', nothing.track / nothing.direct, 1.15, '×');

const ten = await compare('for n in 0 1 2 3 4 5 6 7 8 9; do echo $RANDOM > "file$n"; done', 100);
console.log(`10 files: direct ${ten.direct.toFixed(2)} ms, track ${ten.track.toFixed(2)} ms (p50 of 100)`);
report('changing 10 files, tracked instead of directly', ten.track - ten.direct, 3, 'ms more');

await runIn(hold.engine, 'mkdir many; cd many; for n in {1..10000}; do echo $n > $n; done');
await applyHeld(10_000, 1_000);
await runIn(hold.engine, 'cd many; for n in {1..10000}; do echo $n >> $n; done');
await applyHeld(10_000, 1_000);

async function applyHeld(files: number, targetMs: number): Promise<void> {
  const context = { caller: { door: 'functions', client: 'bench' } } as const;
  const [entry] = (await hold.engine.changes.list(context)).filter(({ state }) => state === 'held');
  const start = performance.now();
  await hold.engine.changes.apply({ id: entry?.id ?? '' }, context);
  const applyMs = performance.now() - start;
  const copied = performance.now();
  const project = join(hold.folder, 'project');
  execFileSync('cp', ['-a', '--reflink=never', join(project, 'many'), join(hold.folder, `copy${copied}`)]);
  const { created = 0, changed = 0 } = entry?.counts ?? {};
  console.log(
    `${created} created, ${changed} changed: cp -a takes ${(performance.now() - copied).toFixed(0)} ms`,
  );
  report(`applying ${files} files`, applyMs, targetMs, 'ms');
}

for (const { close } of [direct, track, hold]) await close();
