// The detached worker: output through its socket compared with a pipe, the start of a background command compared with one in
// this process, and its memory and CPU time while it only keeps a command.
import { execFile } from 'node:child_process';
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

const source = `head -c ${gibibyte} /dev/zero`;
await readAll(local, 'true');
await readAll(detached, 'true');
const idleBytes = process.memoryUsage.rss();
let peakBytes = 0;
const sampler = setInterval(() => {
  peakBytes = Math.max(peakBytes, process.memoryUsage.rss());
}, 5);
const times = await interleave(3, {
  pipe: () => run('bash', ['-c', `${source} | cat > /dev/null`]),
  process: () => readAll(local, source),
  socket: () => readAll(detached, source),
  kept: () => readAll(detached, source, { keeping }),
});
clearInterval(sampler);
const pipe = median(times.pipe);
console.log(`pipe ${pipe.toFixed(0)} ms, in this process ${median(times.process).toFixed(0)} ms`);
report('1 GiB through the socket', pipe / median(times.socket), 0.6, '×', true);
report('1 GiB through the socket, kept on disk', pipe / median(times.kept), 0.6, '×', true);
report('peak memory above idle', (peakBytes - idleBytes) / 1e6, 60, 'MB');

const starts = await interleave(
  100,
  { process: () => stopped(local), detached: () => stopped(detached) },
  20,
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
report('CPU of the idle worker', ((cpuMs(worker.pid) - before) / 20_000) * 100, 0, '%');
const rss = Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${worker.pid}/status`, 'utf8'))?.[1]) * 1_024;
report('memory of the idle worker', rss / 1e6, 45, 'MB');
await Promise.all([local.close(), detached.close()]);
rmSync(folder, { recursive: true, force: true });

/** Milliseconds of CPU time that a process has used. */
function cpuMs(pid: number): number {
  const fields = readFileSync(`/proc/${pid}/schedstat`, 'utf8').split(' ');
  return Number(fields[0]) / 1e6;
}
