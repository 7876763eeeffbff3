import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { Duplex } from 'node:stream';
import { createLocalBackend } from '../../src/backends/local/create-local-backend.ts';
import { createRemoteBackend } from '../../src/backends/remote/create-remote-backend.ts';
import { createUnixRoad } from '../../src/backends/remote/unix-road.ts';
import type { Backend } from '../../src/contract/backend.ts';
import { makeFolder } from '../../src/support/make-folder.ts';
import type { Road } from '../../src/wire/road.ts';
import { findHere } from '../../src/worker/host/here-options.ts';
import { WorkerHost } from '../../src/worker/host/worker-host.ts';
import { createProcessTable } from '../../src/worker/processes/create-process-table.ts';
import type { WorkerOptions } from '../../src/worker/worker-options.ts';
import { builtWorker } from './build.ts';

/** The roads to a worker on which the tests of engine and backends can run. */
export const roadNames = ['process', 'json', 'json-100', 'unix'] as const;

/** One of `roadNames`. */
export type RoadName = (typeof roadNames)[number];

/** The road that `NACRE_TEST_ROAD` names; a worker in this process by default. */
export const chosenRoad = (process.env.NACRE_TEST_ROAD ?? 'process') as RoadName;

/** Two streams, each of which reads after half of `roundTripMs` what was written to the other. */
export function createStreamPair(roundTripMs: number): readonly [Duplex, Duplex] {
  const create = (other: () => Duplex): Duplex => {
    const deliver = (data: Buffer | null) => {
      const step = () => {
        if (!other().destroyed) other().push(data);
      };
      if (roundTripMs > 0) setTimeout(step, roundTripMs / 2);
      else setImmediate(step);
    };
    return new Duplex({
      read() {},
      write(data: Buffer, _, done) {
        deliver(Buffer.from(data));
        done();
      },
      final(done) {
        deliver(null);
        done();
      },
      destroy(error, done) {
        deliver(null);
        done(error);
      },
    });
  };
  const near: Duplex = create(() => far);
  const far: Duplex = create(() => near);
  return [near, far];
}

/** A backend over one of the roads, in the folder of a test. */
export function createRoadBackend(
  options: Omit<WorkerOptions, 'table'>,
  folder: string,
  name: RoadName = chosenRoad,
): Backend {
  if (name === 'process') return createLocalBackend(options);
  if (name === 'unix') return createSocketBackend(options, folder);
  const jobsFolder = join(folder, 'kept');
  makeFolder(jobsFolder);
  const host = new WorkerHost({
    ...{ name: 'test', build: 'test', jobsFolder, table: createProcessTable() },
    here: findHere(folder, { environment: options.environment, execGuard: options.execGuard }),
    onIdle() {},
    onShutdown() {},
  });
  const road: Road = {
    async open() {
      const [near, far] = createStreamPair(name === 'json' ? 0 : 100);
      host.accept(far);
      return near;
    },
  };
  const backend = createRemoteBackend({ ...toRemote(options), road });
  return {
    ...backend,
    async close() {
      await backend.close();
      await host.close();
      rmSync(jobsFolder, { recursive: true, force: true });
    },
  };
}

/** A backend over the Unix socket of a worker process of its own, which ends with it. */
function createSocketBackend(options: Omit<WorkerOptions, 'table'>, folder: string): Backend {
  const root = join(folder, 'workers');
  const environment = { PATH: process.env.PATH ?? '' };
  const road = createUnixRoad({ root, build: 'test', program: builtWorker, environment });
  const backend = createRemoteBackend({ ...toRemote(options), road });
  return {
    ...backend,
    async close() {
      if (backend.hasBegun()) await backend.shutdown().catch(() => {});
      await backend.close();
    },
  };
}

/** Options of `createRemoteBackend` from those of a worker. */
export function toRemote({ execAllow, ...options }: Omit<WorkerOptions, 'table'>) {
  const [build, mode] = ['test', 'use'] as const;
  const times = { orphanMs: 60_000, tombstoneMs: 60_000, graceMs: 60_000 };
  return { build, mode, ...times, execAllow, options: { ...options } };
}
