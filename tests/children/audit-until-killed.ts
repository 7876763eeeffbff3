// Records commands in DIR, and appends the id of each to EFFECTS after its `started` record, until it is killed:
// node FILE DIR EFFECTS
import { appendFileSync } from 'node:fs';
import { createAuditLog } from '../../src/audit/audit-log.ts';
import { createRedact } from '../../src/audit/redact.ts';

const [dir = '', effects = ''] = process.argv.slice(2);
const log = createAuditLog({ dir, fsync: 'interval', redact: createRedact([]) });
const caller = { door: 'cli', client: 'test' } as const;
process.stdout.write('ready\n');
for (let round = 0; ; round += 1) {
  const id = `cmd_${process.pid}_${round}`;
  const command = { kind: 'shell', script: `echo ${id} ${'x'.repeat(round % 900)}` } as const;
  log.record({ kind: 'asked', id, caller, command, cwd: undefined, env: {} });
  log.record({ kind: 'started', id, caller, cwd: '/' });
  appendFileSync(effects, `${id}\n`);
  log.record({ kind: 'failed', id, caller, error: new Error('over') });
}
