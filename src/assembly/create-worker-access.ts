// The detached worker as doors use it. Nothing is loaded or started before a door asks, and `nacre mcp` asks only whether
// earlier servers left commands.
import { realpathSync } from 'node:fs';
import { toIdentity } from '../contract/session-key.ts';
import type { WorkerAccess } from '../doors/door.ts';
import type { Engine } from '../engine/engine.ts';
import { openFarRecords } from '../machines/far-records.ts';
import type { Resolved } from '../rules/rules-for.ts';
import { settlesWithin } from '../support/timing.ts';
import { findWorkers } from '../worker/host/end-workers.ts';
import { listKept, workersFolder } from '../worker/host/worker-folder.ts';
import { createWholeEngine, type EngineHost, workerProgramOf } from './create-whole-engine.ts';
import { hasKeptCommands } from './has-kept-commands.ts';
import { toPlaces } from './places.ts';
import { version } from './version.ts';

// Some clients give up on a server that does not answer `initialize` within 1.5 s.
const describeMs = 1_000;
const mostNamed = 10;

/** Creates the access to the detached worker. */
export function createWorkerAccess(
  { values, machines }: Pick<Resolved, 'values' | 'machines'>,
  host: EngineHost,
  openEngine: () => Promise<Engine>,
): WorkerAccess {
  const { stateDir } = toPlaces(values, host);
  return {
    async keptCommands() {
      if (!hasKeptCommands(stateDir)) return undefined;
      const { backends } = await import('../backends/catalog.ts');
      const parts = { createBackend: backends.kept, mode: 'view', machines } as const;
      const engine = await createWholeEngine(values, host, parts);
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
      if (values.outlive === 'off' || !hasKeptCommands(stateDir)) return undefined;
      // Other machines may take longer to answer than `describeMs`; until then, the records of their commands on this disk are used.
      let names = farCommandNames(stateDir, toIdentity(context, realpathSync(host.cwd)));
      const found = openEngine().then(async (engine) => {
        names = await engine.takeUp(context);
      });
      await settlesWithin(found, describeMs).catch(() => {});
      return names.length === 0 ? undefined : describe(names);
    },
  };
}

function farCommandNames(stateDir: string, identity: string): readonly string[] {
  const abandoned = openFarRecords(stateDir).abandoned();
  const own = abandoned.filter(
    ({ session, keeping, isSettled }) => session === undefined && keeping.identity === identity && !isSettled,
  );
  return own.map(
    ({ id, machine, keeping: { name = id } }) => `${name} (on ${machine}, which has not answered yet)`,
  );
}

function describe(names: readonly string[]): string {
  const shown = names.slice(0, mostNamed).join(', ');
  const rest = names.length > mostNamed ? `, and ${names.length - mostNamed} more` : '';
  return names.length === 1
    ? `1 command of an earlier connection still runs: ${shown}.`
    : `${names.length} commands of an earlier connection still run: ${shown}${rest}.`;
}
