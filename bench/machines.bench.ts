// Commands on three machines over ssh and in a Docker container, compared with commands on this machine. It starts and stops those
// machines and Docker as root.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createAuditLog } from '../src/audit/audit-log.ts';
import { createRedact } from '../src/audit/redact.ts';
import type { Backend } from '../src/contract/backend.ts';
import type { MachineSettings, RoadSettings } from '../src/contract/machine.ts';
import { createEngine } from '../src/engine/create-engine.ts';
import type { Engine } from '../src/engine/engine.ts';
import { createMachineBackend } from '../src/machines/create-machine-backend.ts';
import { createSessions } from '../src/sessions/sessions.ts';
import { createStopwatch } from '../src/support/timing.ts';
import { engineNeeds, startEngine } from '../tests/machines/hosts/start-engine.ts';
import { startHosts, whyNoHosts } from '../tests/machines/hosts/start-ssh.ts';
import { isInstalled } from '../tests/support/program-needs.ts';
import { removeTemporaryFolders } from '../tests/support/temporary-folder.ts';
import { workerOptionsIn } from '../tests/support/worker-options.ts';
import { createBenchEngine, interleave, median, report, runIn } from './measure.ts';

const folder = mkdtempSync(join(tmpdir(), 'nacre-bench-'));
const program = join(process.env.NACRE_TEST_ROOT ?? '', 'dist', 'worker.js');
const rounds = 200;
const parallel = 16;
const loadSeconds = 5;

const reason = whyNoHosts();
if (reason === undefined) await measureAll();
else console.log(`skipped: ${reason}`);
rmSync(folder, { recursive: true, force: true });
removeTemporaryFolders();

function createFarEngine(name: string, road: RoadSettings): Engine {
  const machine: MachineSettings = { name, road, orphanMs: 60_000, limits: {} };
  const { execAllow: _list, ...options } = workerOptionsIn(folder);
  const backend = createMachineBackend(machine, {
    ...{ secretRules: { envPass: [], envWithhold: [] }, redactOutput: false },
    ...{ program, build: 'bench', cwd: folder, tombstoneMs: 1_000, options: { ...options, warmShells: 2 } },
    environment: { HOME: '/root', PATH: process.env.PATH ?? '' },
  });
  return toEngine(name, backend);
}

function toEngine(name: string, backend: Backend): Engine {
  return createEngine({
    backend,
    sessions: createSessions(backend, { maxRunning: 64, tombstoneSeconds: 1 }),
    audit: createAuditLog({ dir: join(folder, name), fsync: 'interval', redact: createRedact([]) }),
    stopOnCancel: { signal: 'SIGTERM', graceMs: 2_000 },
  });
}

async function measureAll(): Promise<void> {
  const hosts = startHosts(3);
  const local = createBenchEngine();
  try {
    await measureSsh(hosts.config, local.engine);
    if (engineNeeds.docker.every(isInstalled)) await measureContainer(local.engine);
    else console.log('skipped: there is no Docker to start');
  } finally {
    await local.close();
    hosts.stop();
  }
}

async function measureSsh(config: string, local: Engine): Promise<void> {
  const engines = ['h1', 'h2', 'h3'].map((host) => createFarEngine(host, { kind: 'ssh', host, config }));
  const [first] = engines;
  if (!first) return;
  try {
    const elapsed = createStopwatch();
    await runIn(first, 'true');
    report('first command on a new ssh machine', elapsed() / 1_000, 3, 's');
    for (const engine of engines) await runIn(engine, 'true');
    await compareTrue(local, first, 'over ssh');
    console.log(
      `       at 16 in parallel on this machine: ${(await countPerSecond([local])).toFixed(0)} commands/s`,
    );
    report('three ssh machines at 16 in parallel', await countPerSecond(engines), 300, 'commands/s', true);
  } finally {
    await Promise.all(engines.map((engine) => engine.close()));
  }
}

async function measureContainer(local: Engine): Promise<void> {
  const docker = await startEngine('docker', ['node']);
  const road: RoadSettings = {
    ...{ kind: 'docker', host: `unix://${docker.socket}`, image: 'nacre-test/node' },
    ...{ pull: 'never', network: 'none' },
    ...{ mount: 'none', mounts: [], env: {}, isReadOnly: false },
  };
  try {
    const starts: number[] = [];
    for (let round = 0; round < 3; round += 1) {
      const engine = createFarEngine(`box${round}`, road);
      const elapsed = createStopwatch();
      await runIn(engine, 'true');
      starts.push(elapsed() / 1_000);
      await engine.close();
    }
    report('container, from the connection to the first command', median(starts), 1.5, 's');
    const box = createFarEngine('box', road);
    await compareTrue(local, box, 'in a container');
    await box.close();
  } finally {
    await docker.stop();
  }
}

/** Reports how much longer `true` takes at `place` than on this machine. */
async function compareTrue(local: Engine, other: Engine, place: string): Promise<void> {
  const times = await interleave(rounds, {
    local: () => runIn(local, 'true'),
    other: () => runIn(other, 'true'),
  });
  const [localMs, otherMs] = [median(times.local), median(times.other)];
  console.log(`       true: ${localMs.toFixed(2)} ms here, ${otherMs.toFixed(2)} ms ${place}`);
  report(`true ${place}, compared with this machine`, otherMs / localMs, 2, 'times');
}

/** Commands per second with 16 callers that share the engines. */
async function countPerSecond(engines: readonly Engine[]): Promise<number> {
  let count = 0;
  const elapsed = createStopwatch();
  const isOver = () => elapsed() > loadSeconds * 1_000;
  const call = async (index: number) => {
    const engine = engines[index % engines.length];
    while (engine && !isOver()) {
      await runIn(engine, 'true');
      count += 1;
    }
  };
  await Promise.all(Array.from({ length: parallel }, (_, index) => call(index)));
  return (count * 1_000) / elapsed();
}
