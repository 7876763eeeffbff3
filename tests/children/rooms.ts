// Runs sandboxed commands of two connections as an ordinary user.
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { restartAsOrdinaryUser } from '../support/ordinary-user.ts';
import { processesWith } from '../support/processes.ts';
import { serverScript, waitForPort } from '../support/room-server.ts';
import { createTestWorker } from '../support/worker.ts';
import { report } from './report.ts';

// A process that has changed its uid is not dumpable: no other one could open its descriptors by name.
restartAsOrdinaryUser();
const results: Record<string, unknown> = {};
let left = 0;
for (const [name, options] of [
  ['workspace', { sandbox: 'workspace' }],
  ['strict', { sandbox: 'strict' }],
  ['filtered', { sandbox: 'strict', networkAllow: ['allowed.example'] }],
] as const) {
  const here = createTestWorker({ highestLevel: 'namespace', supervisionRequire: 'namespace', ...options });
  const cwd = join(here.folder, 'project');
  mkdirSync(cwd);
  const run = async (room: string, script: string) => (await here.run(script, { cwd, room })).stdout.trim();
  const server = await here.start(`touch /tmp/note; ${serverScript(3000, 'hello')}`, { cwd, room: 'one' });
  await waitForPort(here.worker, server, 3000);
  const ask = 'curl -s --max-time 5 localhost:3000 || echo failed';
  results[name] = {
    same: await run('one', ask),
    other: await run('two', ask),
    tmp: await run('one', 'ls /tmp/note | xargs basename'),
    otherTmp: await run('two', 'ls /tmp/note 2>/dev/null'),
    caps: await run('one', 'grep CapPrm /proc/self/status | cut -f2'),
  };
  await here.close();
  left += processesWith(`HOME=${here.folder}`).length;
}
report({ ...results, survivors: left });
