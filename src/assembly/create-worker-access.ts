// The detached worker as doors use it. Nothing is loaded or started before a door asks, and `nacre mcp` asks only whether
// there is something to take up.
import type { WorkerAccess } from '../doors/door.ts';
import type { Engine } from '../engine/engine.ts';
import type { Settings } from '../rules/all-settings.ts';
import { settlesWithin } from '../support/timing.ts';
import { findWorkers } from '../worker/host/end-workers.ts';
import { listKept, workerIsWorthAsking, workersFolder } from '../worker/host/worker-folder.ts';
import { createWholeEngine, type EngineHost, workerProgramOf } from './create-whole-engine.ts';
import { toPlaces } from './places.ts';
import { version } from './version.ts';

// Some clients give up on a server that does not answer `initialize` within 1.5 s.
const describeMs = 1_000;
const mostNamed = 10;

/** Creates the access to the detached worker. */
export function createWorkerAccess(
  values: Settings,
  host: EngineHost,
  openEngine: () => Promise<Engine>,
): WorkerAccess {
  const { stateDir } = toPlaces(values, host);
  return {
    async keptCommands() {
      if (!workerIsWorthAsking(stateDir)) return undefined;
      const { backends } = await import('../backends/catalog.ts');
      const engine = await createWholeEngine(values, host, { createBackend: backends.kept, mode: 'view' });
      return { engine, close: () => engine.close() };
    },
    findWorkers: () => findWorkers(stateDir),
    listKept: () => listKept(stateDir),
    async endWorkers() {
      const { endWorkers } = await import('../worker/host/end-workers.ts');
      return endWorkers(stateDir);
    },
    async openWorker() {
      const { openWorker } = await import('../worker/host/start-worker.ts');
      const program = workerProgramOf(host);
      const environment = Object.fromEntries(
        Object.entries(host.env).filter((pair): pair is [string, string] => pair[1] !== undefined),
      );
      return openWorker({ root: workersFolder(stateDir), build: version, program, environment });
    },
    async describeKept(context) {
      if (values.outlive === 'off' || !workerIsWorthAsking(stateDir)) return undefined;
      let names: readonly string[] = [];
      const found = openEngine().then(async (engine) => {
        names = await engine.takeUp(context);
      });
      await settlesWithin(found, describeMs).catch(() => {});
      return names.length === 0 ? undefined : describe(names);
    },
  };
}

function describe(names: readonly string[]): string {
  const shown = names.slice(0, mostNamed).join(', ');
  const rest = names.length > mostNamed ? `, and ${names.length - mostNamed} more` : '';
  return names.length === 1
    ? `1 command of an earlier connection still runs: ${shown}.`
    : `${names.length} commands of an earlier connection still run: ${shown}${rest}.`;
}
