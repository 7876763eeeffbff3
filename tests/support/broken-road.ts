// A road whose streams can be cut, refused and held up, to workers in this process that can be replaced.
import { join } from 'node:path';
import type { Duplex } from 'node:stream';
import { onTestFinished } from 'vitest';
import { createRemoteBackend } from '../../src/backends/remote/create-remote-backend.ts';
import type { JobSpec } from '../../src/contract/job.ts';
import { randomHex } from '../../src/support/ids.ts';
import { makeFolder } from '../../src/support/make-folder.ts';
import { findHere } from '../../src/worker/host/here-options.ts';
import { WorkerHost } from '../../src/worker/host/worker-host.ts';
import { createProcessTable } from '../../src/worker/processes/create-process-table.ts';
import { createStreamPair, toRemote } from './roads.ts';
import { temporaryFolder } from './temporary-folder.ts';
import { workerOptionsIn } from './worker-options.ts';

/** Options of `createBrokenRoad`. */
export interface BrokenRoadOptions {
  readonly graceMs?: number;
  readonly patienceMs?: number;
}

/** Creates a backend over a road that breaks when the test says so. */
export function createBrokenRoad({ graceMs = 60_000, patienceMs }: BrokenRoadOptions = {}) {
  const folder = temporaryFolder();
  const options = workerOptionsIn(folder);
  const hosts: WorkerHost[] = [];
  const streams: Duplex[] = [];
  let refusal: Error | undefined;
  let count = 0;
  const addHost = () => {
    const name = `worker-${hosts.length + 1}`;
    const jobsFolder = join(folder, name);
    makeFolder(jobsFolder);
    const host = new WorkerHost({
      ...{ name, build: 'test', jobsFolder, table: createProcessTable() },
      here: findHere(folder, { environment: options.environment, execGuard: options.execGuard }),
      onIdle() {},
      onShutdown() {},
    });
    hosts.push(host);
    return host;
  };
  let host = addHost();
  const road = {
    ...(patienceMs !== undefined && { patienceMs }),
    async open() {
      if (refusal) throw refusal;
      const [near, far] = createStreamPair(0);
      streams.push(near);
      host.accept(far);
      return near;
    },
  };
  const backend = createRemoteBackend({ ...toRemote(options), graceMs, road });
  onTestFinished(async () => {
    refusal = undefined;
    await backend.close();
    for (const one of hosts) await one.close();
  });
  const cut = () => {
    for (const stream of streams.splice(0)) stream.destroy();
  };
  const prepare = async (script: string, more: Partial<JobSpec> = {}) => {
    count += 1;
    // At level `group`, the processes of a command are found by its id, so files that run at the same time need different ids.
    const id = `job-${count}-${randomHex(4)}`;
    const command = { kind: 'shell', script } as const;
    await backend.prepare({ id, command, cwd: folder, env: {}, stdin: 'empty', timeoutMs: null, ...more });
    return id;
  };
  return {
    ...{ backend, folder, cut },
    host: () => host,
    /** Data that the worker sends over the present stream does not arrive any more. */
    deafen() {
      for (const stream of streams) stream.pause();
    },
    /** Cuts the stream, and refuses others until `join`. */
    refuse(error: Error = new Error('the network is down')) {
      refusal = error;
      cut();
    },
    join() {
      refusal = undefined;
    },
    /** Later streams reach another worker, which knows nothing of the first. */
    replaceWorker() {
      host = addHost();
    },
    prepare,
    async start(script: string, more: Partial<JobSpec> = {}) {
      const id = await prepare(script, more);
      await backend.start(id);
      return id;
    },
  };
}
