// Records until the audit file reaches RLIMIT_FSIZE, then shorter entries that still fit.
import { createHash } from 'node:crypto';
import { readFileSync, rmSync } from 'node:fs';
import { createAuditLog } from '../../src/audit/audit-log.ts';
import { createRedact } from '../../src/audit/redact.ts';
import { NacreError } from '../../src/contract/failure.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';
import { report } from './report.ts';

const folder = temporaryFolder();
const log = createAuditLog({ dir: folder, fsync: 'always', redact: createRedact([]) });
const codes = new Set<string>();
let taken = 0;
const record = (length: number) => {
  const command = { kind: 'shell', script: 'x'.repeat(length) } as const;
  const caller = { door: 'cli', client: 'test' } as const;
  try {
    log.record({ kind: 'asked', id: 'cmd', caller, command, cwd: undefined, env: {} });
    taken += 1;
  } catch (error) {
    codes.add(error instanceof NacreError ? error.code : String(error));
  }
};
for (let round = 0; round < 30; round += 1) record(2_000);
for (let round = 0; round < 5; round += 1) record(1);
const lines = readFileSync(log.path, 'utf8').split('\n');
let previous = '0'.repeat(64);
const chained = lines.slice(0, -1).every((line) => {
  const { prev } = JSON.parse(line) as { prev: string };
  const fits = prev === previous;
  previous = createHash('sha256').update(`${line}\n`).digest('hex');
  return fits;
});
report({ codes: [...codes], taken, whole: lines.at(-1) === '' && lines.length === taken + 1, chained });
log.close();
rmSync(folder, { recursive: true });
