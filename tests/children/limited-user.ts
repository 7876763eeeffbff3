// Exceeds every resource limit as an ordinary user.
import type { Limits } from '../../src/contract/limits.ts';
import { becomeOrdinaryUser } from '../support/ordinary-user.ts';
import { createTestWorker } from '../support/worker.ts';
import { report } from './report.ts';

becomeOrdinaryUser();
const here = createTestWorker({ highestLevel: 'namespace' });
const cause = async (script: string, limits: Limits) =>
  (await here.run(script, { limits, timeoutMs: 15_000 })).state.end?.cause;
const storm =
  'for (1..3000) { my $p = fork; die "fork: $!" unless defined $p; if (!$p) { sleep 9; exit } } sleep 9';
const forks =
  'while (defined($p = fork)) { if (!$p) { sleep 9; exit } $n++ } syswrite STDOUT, $n; kill 9, -getpgrp';
// The name of the init process shows whether `bwrap` or the fork server has created the namespace.
const nameInit = `read -rd '' init </proc/1/cmdline; printf '%s ' "\${init##*/}"`;
const count = async () =>
  (await here.run(`${nameInit}; setsid perl -e '${forks}'`, { limits: { maxProcesses: 6 } })).stdout;
report({
  counts: [await count(), await count(), await count()],
  memory: await cause(`perl -e '$x = "a" x 2**31'`, { memoryBytes: 200_000_000 }),
  tree: await cause(`for i in 1 2 3 4; do perl -e '$x = "a" x 2**29; sleep 9' & done; wait`, {
    treeMemoryBytes: 250_000_000,
  }),
  storm: await cause(`perl -e '${storm}'`, { maxProcesses: 50 }),
  cpu: await cause('while :; do :; done', { cpuSeconds: 1 }),
  file: await cause('head -c 3000000 /dev/zero > big', { fileBytes: 1_024_000 }),
  after: (await here.run('echo still here')).stdout,
});
await here.close();
