// Rows of the fault table as an ordinary user, to whom a limit of processes (EAGAIN) applies.

import { type FaultCase, type Place, tryFault } from '../faults/helper-faults.ts';
import type { Helper } from '../support/helper-processes.ts';
import { becomeOrdinaryUser } from '../support/ordinary-user.ts';
import { report } from './report.ts';

becomeOrdinaryUser();
const [place = 'plain', helper = 'keeper', moments = 'running'] = process.argv.slice(2);
const failed: Record<string, string> = {};
for (const moment of moments.split(',')) {
  const row = [place as Place, helper as Helper, 'EAGAIN', moment as FaultCase[3]] as const;
  await tryFault(row).catch((error: unknown) => {
    failed[moment] = String(error);
  });
}
report(failed);
