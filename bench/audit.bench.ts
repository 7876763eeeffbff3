// The cost of auditing: the engine runs `true` with and without an audit log. Then `verifyAudit` over 40,000 records.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createAuditLog } from '../src/audit/audit-log.ts';
import { createRedact } from '../src/audit/redact.ts';
import { verifyAudit } from '../src/audit/verify.ts';
import { recordCommand } from '../tests/support/audit.ts';
import { createBenchEngines, interleave, median, report, runIn } from './measure.ts';

// Each pair of engines gets its own run, so that pending disk writes of one do not slow down the next. `restMs` is long enough
// for the backend to replace the warm shell that a command used.
async function addedBy(audit: 'interval' | 'always'): Promise<number> {
  const { engines, close } = createBenchEngines({ without: 'off', with: audit });
  const contenders = {
    without: () => runIn(engines.without, 'true'),
    with: () => runIn(engines.with, 'true'),
  };
  await interleave(200, contenders);
  const times = await interleave(rounds, contenders, restMs);
  await close();
  const [without, with_] = [median(times.without), median(times.with)];
  console.log(`true ${without.toFixed(3)} ms, audited ${with_.toFixed(3)} ms (p50 of ${rounds})`);
  return (with_ / without - 1) * 100;
}

const [rounds, restMs] = [500, 8];

report('audit added to true', await addedBy('interval'), 5, '%');
console.log(`       with fsync: always ${(await addedBy('always')).toFixed(1)} %`);

const dir = mkdtempSync(join(tmpdir(), 'nacre-bench-'));
const log = createAuditLog({ dir, fsync: 'interval', redact: createRedact([]) });
for (let count = 0; count < 10_000; count += 1) recordCommand(log, `cmd_${count}`, 'ls -la');
log.close();
const start = performance.now();
const { problems, records } = verifyAudit(dir);
const title = `10000 commands verified (${records} records, ${problems.length} problems)`;
report(title, performance.now() - start, 2_000, 'ms');
rmSync(dir, { recursive: true });
