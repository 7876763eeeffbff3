// Starts a command while RLIMIT_NPROC allows no further process, and another one after the limit is lifted.
import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { NacreError } from '../../src/contract/failure.ts';
import { createStopwatch, sleep } from '../../src/support/timing.ts';
import { childrenOf } from '../../src/worker/processes/descendants.ts';
import { becomeOrdinaryUser } from '../support/ordinary-user.ts';
import { openDescriptors } from '../support/processes.ts';
import { createTestWorker } from '../support/worker.ts';
import { report } from './report.ts';

// RLIMIT_NPROC does not apply to root.
becomeOrdinaryUser();
const here = createTestWorker();
await here.run('true');
const before = openDescriptors();
// The limit applies to each process by itself, so the fork server needs it, too.
const own = [process.pid, ...childrenOf(process.pid)];
const setLimit = (limit: string) => own.map((pid) => `prlimit --pid=${pid} --nproc=${limit}`).join(' && ');
// Start the process that lifts the limit beforehand, because it could not be started under the limit.
const lifting = spawn('bash', ['-c', `read; ${setLimit('4096:')}`], { stdio: ['pipe', 'ignore', 'ignore'] });
await once(lifting, 'spawn');
execFileSync('bash', ['-c', setLimit('1:')]);
const found = await here.start('echo never').catch((error: unknown) => error);
lifting.stdin.end('\n');
await once(lifting, 'close');
const after = await here.run('echo works');
// The fork server with the limit was replaced, and exits when its waiting shells have been discarded.
const elapsed = createStopwatch();
while (openDescriptors() > before && elapsed() < 20_000) await sleep(20);
report({
  code: found instanceof NacreError ? found.code : String(found),
  leaked: Math.max(0, openDescriptors() - before),
  after: after.stdout,
});
await here.close();
