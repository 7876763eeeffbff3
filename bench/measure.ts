import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type AuditLog, createAuditLog } from '../src/audit/audit-log.ts';
import { createRedact } from '../src/audit/redact.ts';
import { createLocalBackend } from '../src/backends/local/create-local-backend.ts';
import type { ChangesMode } from '../src/contract/changes.ts';
import type { SandboxName } from '../src/contract/isolation.ts';
import { createEngine } from '../src/engine/create-engine.ts';
import type { Engine } from '../src/engine/engine.ts';
import { createSessions } from '../src/sessions/sessions.ts';
import { sleep } from '../src/support/timing.ts';
import { workerOptionsIn } from '../tests/support/worker-options.ts';

/**
 * Runs contenders alternately, so that noise on the machine affects all of them equally, and returns the times of each in ms.
 * Waits `restMs` after each run, so that background work of one is not counted against the next.
 */
export async function interleave<Name extends string>(
  rounds: number,
  contenders: Readonly<Record<Name, () => Promise<unknown>>>,
  restMs = 0,
): Promise<Record<Name, number[]>> {
  const names = Object.keys(contenders) as Name[];
  const times = Object.fromEntries(names.map((name) => [name, []])) as unknown as Record<Name, number[]>;
  for (const name of names) await contenders[name]();
  for (let round = 0; round < rounds; round += 1) {
    for (const name of names) {
      const start = performance.now();
      await contenders[name]();
      times[name].push(performance.now() - start);
      if (restMs > 0) await sleep(restMs);
    }
  }
  return times;
}

/** The median of some figures. */
export function median(figures: readonly number[]): number {
  return [...figures].sort((a, b) => a - b)[figures.length >> 1] ?? Number.NaN;
}

/** How often a step runs per second if `atOnce` of them run at the same time, `count` in all. */
export async function perSecond(
  step: () => Promise<unknown>,
  { count, atOnce }: { readonly count: number; readonly atOnce: number },
): Promise<number> {
  let left = count;
  const work = async () => {
    while (left > 0) {
      left -= 1;
      await step();
    }
  };
  const start = performance.now();
  await Promise.all(Array.from({ length: atOnce }, work));
  return (count * 1_000) / (performance.now() - start);
}

/** Prints one result and the target that it has to meet. */
export function report(title: string, figure: number, target: number, unit: string, atLeast = false): void {
  const met = atLeast ? figure >= target : figure <= target;
  const relation = atLeast ? '>=' : '<=';
  console.log(
    `${met ? 'met   ' : 'MISSED'} ${title}: ${figure.toFixed(2)} ${unit} (target ${relation} ${target} ${unit})`,
  );
}

type Audit = 'interval' | 'always' | 'off';

interface BenchOptions {
  readonly maxRunning?: number;
  readonly spoolBytes?: number;
  readonly sandbox?: SandboxName;
  readonly changes?: ChangesMode;
}

/** Creates an engine in a temporary folder. */
export function createBenchEngine(options: BenchOptions = {}): {
  engine: Engine;
  folder: string;
  close(): Promise<void>;
} {
  const { engines, folder, close } = createBenchEngines({ audited: 'interval' }, options);
  return { engine: engines.audited, folder, close };
}

/** Creates engines that differ only in their audit log; all use the same backend and its warm shells. */
export function createBenchEngines<Name extends string>(
  audits: Readonly<Record<Name, Audit>>,
  { spoolBytes = 268_435_456, sandbox = 'off', changes = 'direct', maxRunning = 64 }: BenchOptions = {},
): { engines: Record<Name, Engine>; folder: string; close(): Promise<void> } {
  const folder = mkdtempSync(join(tmpdir(), 'nacre-bench-'));
  const cwd = join(folder, 'project');
  mkdirSync(cwd);
  const backend = createLocalBackend({
    ...workerOptionsIn(folder),
    cwd,
    environment: { PATH: process.env.PATH ?? '', HOME: folder },
    spoolBytes,
    spoolTotalBytes: 2 * spoolBytes,
    highestLevel: 'namespace',
    sandbox,
    changes,
    warmShells: 2,
  });
  const toEngine = (name: string, audit: Audit) =>
    createEngine({
      backend,
      sessions: createSessions(backend, { maxRunning, tombstoneSeconds: 1 }),
      audit: toAuditLog(join(folder, name), audit),
      stopOnCancel: { signal: 'SIGTERM', graceMs: 2_000 },
    });
  const named = Object.entries<Audit>(audits).map(([name, audit]) => [name, toEngine(name, audit)] as const);
  const close = async () => {
    for (const [, engine] of named) await engine.close();
    rmSync(folder, { recursive: true, force: true });
  };
  return { engines: Object.fromEntries(named) as Record<Name, Engine>, folder, close };
}

function toAuditLog(dir: string, fsync: Audit): AuditLog {
  if (fsync === 'off')
    return {
      instance: 'bench',
      path: dir,
      record() {},
      recordSoon() {},
      tryRecord: () => [],
      tryRecordSoon: () => [],
      settle() {},
      subscribe() {},
      close() {},
    };
  return createAuditLog({ dir, fsync, redact: createRedact([]) });
}

/** Runs a script in an engine until it ends. */
export function runIn(engine: Engine, script: string, more: { session?: string } = {}): Promise<unknown> {
  return engine.run(
    { command: { kind: 'shell', script }, timeoutMs: 600_000, maxOutputChars: 30_000, ...more },
    {
      caller: { door: 'functions', client: 'bench' },
      rules: { allow: { kind: 'all' }, allowSetting: 'ALLOWED_COMMANDS', danger: 'block' },
      cwdRoots: [],
      howToGetRest: 'Ask for more.',
    },
  );
}
