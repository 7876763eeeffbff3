// Starts a command while the system grants no further process, and another one when it does again.
import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { NacreError } from '../../src/contract/failure.ts';
import { becomeOrdinaryUser } from '../support/ordinary-user.ts';
import { openDescriptors } from '../support/processes.ts';
import { createTestWorker } from '../support/worker.ts';
import { report } from './report.ts';

// Root is not bound by the limit.
becomeOrdinaryUser();
const here = createTestWorker();
await here.run('true');
const before = openDescriptors();
const limit = `prlimit --pid=${process.pid} --nproc`;
// Under the limit nobody here could start what lifts it, so that waits already.
const lifting = spawn('bash', ['-c', `read; ${limit}=4096:`], { stdio: ['pipe', 'ignore', 'ignore'] });
await once(lifting, 'spawn');
execFileSync('bash', ['-c', `${limit}=1:`]);
const found = await here.start('echo never').catch((error: unknown) => error);
lifting.stdin.end('\n');
await once(lifting, 'close');
const after = await here.run('echo works');
report({
  code: found instanceof NacreError ? found.code : String(found),
  leaked: openDescriptors() - before,
  after: after.stdout,
});
await here.close();
