// The detached worker: output through its socket compared with a pipe, the start of a background command compared with one in
// this process, and its memory and CPU time while it only keeps a command. The sources are those of `capture.bench.ts`: the
// worker hashes every byte, so the fastest source shows the cost of a byte, and lines of text show what commands notice.
import { execFile, spawn } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import type { Backend } from '../src/contract/backend.ts';
import type { JobSpec } from '../src/contract/job.ts';
import { createId } from '../src/support/ids.ts';
import { sleep } from '../src/support/timing.ts';
import { listWorkers, readWorker } from '../src/worker/host/worker-folder.ts';
import { createRoadBackend } from '../tests/support/roads.ts';
import { workerOptionsIn } from '../tests/support/worker-options.ts';
import { interleave, median, report } from './measure.ts';

const run = promisify(execFile);
const gibibyte = 1_073_741_824;
const folder = mkdtempSync(join(tmpdir(), 'nacre-bench-'));
const options = {
  ...workerOptionsIn(folder),
  environment: { PATH: process.env.PATH ?? '', HOME: folder },
  ...{ spoolBytes: 2 * gibibyte, spoolTotalBytes: 4 * gibibyte, warmShells: 2 },
  highestLevel: 'namespace',
} as const;
const local = createRoadBackend(options, folder, 'process');
const detached = createRoadBackend(options, folder, 'unix');
const keeping = {
  ...{ identity: 'bench', room: 'bench', outlives: true },
  caller: { door: 'cli', client: 'bench' },
} as const;

async function start(backend: Backend, script: string, more: Partial<JobSpec> = {}): Promise<string> {
  const [id, command] = [createId('cmd'), { kind: 'shell', script } as const];
  await backend.prepare({ id, command, cwd: folder, env: {}, stdin: 'empty', timeoutMs: null, ...more });
  await backend.start(id);
  return id;
}

async function readAll(backend: Backend, script: string, more: Partial<JobSpec> = {}): Promise<void> {
  const id = await start(backend, script, more);
  for (let at = 0; ; ) {
    const { next, end, final } = await backend.read(id, at, { waitMs: 10_000, maxBytes: 1_048_576 });
    at = next;
    if (final && at >= end) break;
  }
  await backend.dispose(id);
}

async function stopped(backend: Backend): Promise<void> {
  const id = await start(backend, 'sleep 60', backend === detached ? { keeping } : {});
  void backend.stop(id, { signal: 'SIGKILL', graceMs: 0 }).then(() => backend.dispose(id));
}

const sources = {
  'lines of text': `seq -f 'line %.0f of ordinary output' 1 40000000 | head -c ${gibibyte}`,
  zeros: `head -c ${gibibyte} /dev/zero`,
};
await readAll(local, 'true');
await readAll(detached, 'true');
const idleBytes = process.memoryUsage.rss();
let peakBytes = 0;
const sampler = setInterval(() => {
  peakBytes = Math.max(peakBytes, process.memoryUsage.rss());
}, 5);
for (const [name, source] of Object.entries(sources)) {
  const times = await interleave(name === 'zeros' ? 3 : 1, {
    pipe: () => run('bash', ['-c', `${source} | cat > /dev/null`]),
    process: () => readAll(local, source),
    socket: () => readAll(detached, source),
    kept: () => readAll(detached, source, { keeping }),
  });
  const pipe = median(times.pipe);
  console.log(`${name}: pipe ${pipe.toFixed(0)} ms, in this process ${median(times.process).toFixed(0)} ms`);
  report(`1 GiB of ${name} through the socket`, pipe / median(times.socket), 0.6, '×', true);
  report(`1 GiB of ${name} through the socket, kept on disk`, pipe / median(times.kept), 0.6, '×', true);
}
clearInterval(sampler);
report('peak memory above idle', (peakBytes - idleBytes) / 1e6, 60, 'MB');

const starts = await interleave(
  100,
  { process: () => stopped(local), detached: () => stopped(detached) },
  // After this pause, both have a waiting shell again.
  80,
);
console.log(`in this process ${median(starts.process).toFixed(2)} ms`);
report('start in the worker', median(starts.detached) / median(starts.process), 1.3, '×');

await start(detached, 'sleep 600', { keeping });
await sleep(5_000);
const root = join(folder, 'workers');
const [worker] = listWorkers(root).flatMap((name) => readWorker(root, name) ?? []);
if (!worker) throw new Error('There is no worker.');
const before = cpuMs(worker.pid);
await sleep(20_000);
const percent = ((cpuMs(worker.pid) - before) / 20_000) * 100;
console.log(`       CPU of the idle worker: ${percent.toFixed(3)} %`);
report('CPU of the idle worker, as top shows it', Math.round(percent * 10) / 10, 0, '%');
const empty = spawn(process.execPath, ['-e', 'setInterval(() => {}, 1e6)'], { stdio: 'ignore' });
await sleep(1_000);
const [own, least] = [memoryOf(worker.pid), memoryOf(empty.pid ?? 0)];
empty.kill();
console.log(`       ${own.anonymousMb} MB of it are its own; the rest is code that all Node processes share`);
console.log(
  `       a Node process that does nothing: ${least.residentMb} MB, ${least.anonymousMb} MB of it its own`,
);
report('memory of the idle worker', own.residentMb, 45, 'MB');
await Promise.all([local.close(), detached.close()]);
rmSync(folder, { recursive: true, force: true });

/** Milliseconds of CPU time that a process has used. */
function cpuMs(pid: number): number {
  const fields = readFileSync(`/proc/${pid}/schedstat`, 'utf8').split(' ');
  return Number(fields[0]) / 1e6;
}

/** The resident memory of a process, and the part of it that is not mapped from files. */
function memoryOf(pid: number): { readonly residentMb: number; readonly anonymousMb: number } {
  const status = readFileSync(`/proc/${pid}/status`, 'utf8');
  const read = (name: string) =>
    Math.round((Number(new RegExp(`^${name}:\\s+(\\d+)`, 'm').exec(status)?.[1]) * 1_024) / 1e5) / 10;
  return { residentMb: read('VmRSS'), anonymousMb: read('RssAnon') };
}
