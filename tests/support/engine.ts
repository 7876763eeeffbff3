import { readdirSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { type AuditLog, createAuditLog } from '../../src/audit/audit-log.ts';
import { createRedact } from '../../src/audit/redact.ts';
import { hideTypedSecrets } from '../../src/backends/layers/mask-output.ts';
import type { Backend } from '../../src/contract/backend.ts';
import type { Outcome } from '../../src/contract/outcome.ts';
import type { CommandRequest } from '../../src/contract/request.ts';
import type { RunContext, StartContext, StartRequest } from '../../src/engine/context/call-context.ts';
import { createEngine } from '../../src/engine/create-engine.ts';
import type { Engine } from '../../src/engine/engine.ts';
import { createSessions, type SessionLimits } from '../../src/sessions/sessions.ts';
import type { WorkerOptions } from '../../src/worker/worker-options.ts';
import { createRoadBackend, type RoadName } from './roads.ts';
import { temporaryFolder } from './temporary-folder.ts';
import { workerOptionsIn } from './worker-options.ts';

/** An engine in a temporary folder, with shortcuts for tests. */
export interface TestEngine {
  readonly engine: Engine;
  readonly folder: string;
  readonly auditDir: string;
  /** Runs a script; by default the rules allow everything. */
  run(script: string, request?: Partial<CommandRequest>, context?: Partial<RunContext>): Promise<Outcome>;
  /** Starts a script that keeps running after the call, and returns its id. */
  start(script: string, request?: Partial<StartRequest>, context?: Partial<StartContext>): Promise<string>;
  /** The audit records, oldest first. */
  records(): readonly Record<string, unknown>[];
  close(): Promise<void>;
}

/** Options of `createTestEngine`. */
export interface TestEngineOptions extends Partial<SessionLimits> {
  /** Called for every audit record. */
  readonly onRecord?: Parameters<AuditLog['subscribe']>[0];
  readonly worker?: Partial<WorkerOptions>;
  /** The road to the worker; the chosen one by default. */
  readonly road?: RoadName;
  /** Wraps the backend that the engine uses. */
  readonly wrap?: (backend: Backend) => Backend;
}

/** Creates an engine with a local backend for tests. */
export function createTestEngine(options: TestEngineOptions = {}): TestEngine {
  const folder = temporaryFolder();
  const auditDir = join(folder, 'audit');
  const local = createRoadBackend({ ...workerOptionsIn(folder), ...options.worker }, folder, options.road);
  const hidden = hideTypedSecrets(local);
  const backend = options.wrap?.(hidden) ?? hidden;
  const { maxRunning = 64, tombstoneSeconds = 900 } = options;
  const audit = createAuditLog({ dir: auditDir, fsync: 'interval', redact: createRedact([]) });
  if (options.onRecord) audit.subscribe(options.onRecord);
  const engine = createEngine({
    backend,
    sessions: createSessions(backend, { maxRunning, tombstoneSeconds }),
    audit,
    stopOnCancel: { signal: 'SIGTERM', graceMs: 500 },
  });
  const everything: RunContext = {
    caller: { door: 'cli', client: 'test' },
    rules: { allow: { kind: 'all' }, allowSetting: 'ALLOWED_COMMANDS', danger: 'block' },
    cwdRoots: [],
    howToGetRest: 'Ask for more.',
  };
  return {
    engine,
    folder,
    auditDir,
    run: (script, request = {}, context = {}) =>
      engine.run(
        { command: { kind: 'shell', script }, timeoutMs: null, maxOutputChars: 30_000, ...request },
        { ...everything, ...context },
      ),
    async start(script, request = {}, context = {}) {
      const { id } = await engine.start(
        { command: { kind: 'shell', script }, stdin: 'open', timeoutMs: null, ...request },
        { ...everything, owner: 'tester', ...context },
      );
      return id;
    },
    records() {
      audit.settle();
      const names = readdirSync(auditDir).filter((name) => /^\d/.test(name));
      const files = names.map((name) => readFileSync(join(auditDir, name), 'utf8'));
      const lines = files.flatMap((text) => text.split('\n').filter((line) => line !== ''));
      return lines.map((line) => JSON.parse(line) as Record<string, unknown>);
    },
    async close() {
      await engine.close();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}
