// Runs commands of every kind where PID 1 reaps nothing, and counts the zombies and the processes that are left.
import { createRequire } from 'node:module';
import type { SandboxName, SupervisionLevel } from '../../src/contract/isolation.ts';
import type { JobSpec } from '../../src/contract/job.ts';
import { becomeOrdinaryUser } from '../support/ordinary-user.ts';
import { processStates, settleEmpty, zombieStates } from '../support/process-states.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';
import { createTestWorker } from '../support/worker.ts';
import { report } from './report.ts';

const [level = 'group', sandbox = 'off', rounds = '1', user = '', guard = ''] = process.argv.slice(2);
// This file is bundled elsewhere, so packages are found from the guard's folder.
const require = createRequire(guard);
const loadPty = async () => require('@lydell/node-pty/requireBinary.js').requireBinary('pty.node');
if (user === 'ordinary') becomeOrdinaryUser();

const here = createTestWorker({
  highestLevel: level as SupervisionLevel,
  sandbox: sandbox as SandboxName,
  killGraceMs: 100,
  drainMs: 20,
  // The worker's folder is the workspace, and a home folder would be too wide for that.
  home: '/nonexistent',
  stateDir: temporaryFolder(),
  execGuard: guard,
  loadPty,
});

const terminal = { cols: 80, rows: 24 };
const kinds: Readonly<Record<string, readonly [script: string, spec: Partial<JobSpec>]>> = {
  'one-shot': ['true', {}],
  pipeline: ['seq 3 | sort | tail -1', {}],
  orphans: ['(sleep 300 & sleep 301 &) ; exit 3', {}],
  daemon: ['setsid sleep 302 >/dev/null 2>&1 & sleep 0.01', {}],
  timeout: ['sleep 303; sleep 304', { timeoutMs: 60 }],
  'ignores SIGTERM': ["trap '' TERM; sleep 305 & wait; sleep 306", { timeoutMs: 60 }],
  session: ['sleep 0.01 & echo in session', { session: 'one' }],
  terminal: ['(sleep 307 &); echo at terminal', { terminal, stdin: 'open' }],
};

for (let round = 0; round < Number(rounds); round += 1) {
  for (const [script, spec] of Object.values(kinds)) {
    const id = await here.start(script, { ...spec, room: 'room' });
    await here.worker.wait(id, 30_000);
    await here.worker.dispose(id);
  }
  const id = await here.start('sleep 308 & sleep 309', { room: 'room' });
  await here.worker.stop(id, { signal: 'SIGTERM', graceMs: 50 });
  await here.worker.dispose(id);
}
const zombiesWhileRunning = await settleEmpty(zombieStates);
await here.close();
report({ zombiesWhileRunning, left: await settleEmpty(processStates) });
