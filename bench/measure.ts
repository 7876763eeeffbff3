import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type AuditLog, createAuditLog } from '../src/audit/audit-log.ts';
import { createRedact } from '../src/audit/redact.ts';
import { createLocalBackend } from '../src/backends/local/create-local-backend.ts';
import type { SandboxName } from '../src/contract/isolation.ts';
import { createEngine } from '../src/engine/create-engine.ts';
import type { Engine } from '../src/engine/engine.ts';
import { createSessions } from '../src/sessions/sessions.ts';
import { pause } from '../src/support/pause.ts';
import { workerOptionsIn } from '../tests/support/worker-options.ts';

/**
 * Runs contenders turn by turn, so that a noisy machine disturbs all alike; gives each one's times in ms. After each turn
 * comes a rest, so that what one does in the background is not counted against the next.
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
      if (restMs > 0) await pause(restMs);
    }
  }
  return times;
}

/** The middle of some figures. */
export function median(figures: readonly number[]): number {
  return [...figures].sort((a, b) => a - b)[figures.length >> 1] ?? Number.NaN;
}

/** Prints one result beside the bar it has to meet. */
export function report(what: string, figure: number, bar: number, unit: string, atLeast = false): void {
  const met = atLeast ? figure >= bar : figure <= bar;
  const relation = atLeast ? '>=' : '<=';
  console.log(
    `${met ? 'met   ' : 'MISSED'} ${what}: ${figure.toFixed(2)} ${unit} (bar ${relation} ${bar} ${unit})`,
  );
}

type Audit = 'interval' | 'always' | 'off';

interface BenchOptions {
  readonly maxRunning?: number;
  readonly spoolBytes?: number;
  readonly sandbox?: SandboxName;
}

/** An engine in a temporary folder. */
export function createBenchEngine(options: BenchOptions = {}): { engine: Engine; close(): Promise<void> } {
  const { engines, close } = createBenchEngines({ audited: 'interval' }, options);
  return { engine: engines.audited, close };
}

/** Engines that differ in their audit alone: all run their commands in the same backend, with the same waiting shells. */
export function createBenchEngines<Name extends string>(
  audits: Readonly<Record<Name, Audit>>,
  { spoolBytes = 268_435_456, sandbox = 'off', maxRunning = 64 }: BenchOptions = {},
): { engines: Record<Name, Engine>; close(): Promise<void> } {
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
    warmShells: 2,
  });
  const toEngine = (name: string, audit: Audit) =>
    createEngine({
      backend,
      sessions: createSessions(backend, { maxRunning, tombstoneSeconds: 1 }),
      audit: toAuditLog(join(folder, name), audit),
      cancelling: { signal: 'SIGTERM', graceMs: 2_000 },
    });
  const named = Object.entries<Audit>(audits).map(([name, audit]) => [name, toEngine(name, audit)] as const);
  const close = async () => {
    for (const [, engine] of named) await engine.close();
    rmSync(folder, { recursive: true, force: true });
  };
  return { engines: Object.fromEntries(named) as Record<Name, Engine>, close };
}

function toAuditLog(dir: string, fsync: Audit): AuditLog {
  if (fsync === 'off')
    return {
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

/** Runs a script to its end in an engine. */
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
