// Runs under RLIMIT_FSIZE, which has the same effect on the spool as a full disk.
import { createTestWorker } from '../support/worker.ts';
import { report } from './report.ts';

const here = createTestWorker({ ringBytes: 4_096 });
const loud = await here.run('yes | head -c 3000000; sleep 60');
const after = await here.run('echo still here');
const [first = ''] = loud.stdout.split('\n', 1);
report({
  status: loud.state.status,
  cause: loud.state.end?.cause,
  detail: loud.state.end?.detail,
  readable: loud.stdout.length === loud.state.stdoutBytes && loud.stdout.length > 0,
  first,
  durationMs: loud.state.durationMs,
  after: after.stdout,
});
await here.close();
