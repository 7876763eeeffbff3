// What the audit adds to a command: the engine running `true` with it and without.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createAuditLog } from '../src/audit/audit-log.ts';
import { createRedact } from '../src/audit/redact.ts';
import { verifyAudit } from '../src/audit/verify.ts';
import { recordCommand } from '../tests/support/audit.ts';
import { createBenchEngine, interleave, median, report, runIn } from './measure.ts';

// Two at a time: what one leaves to the disk would otherwise slow down the next.
async function addedBy(audit: 'interval' | 'always'): Promise<number> {
  const [without, with_] = [createBenchEngine({ audit: 'off' }), createBenchEngine({ audit })];
  const times = await interleave(400, {
    without: () => runIn(without.engine, 'true'),
    with: () => runIn(with_.engine, 'true'),
  });
  await without.close();
  await with_.close();
  console.log(
    `true ${median(times.without).toFixed(2)} ms, audited ${median(times.with).toFixed(2)} ms (p50 of 400)`,
  );
  return (median(times.with) / median(times.without) - 1) * 100;
}

report('audit added to true', await addedBy('interval'), 5, '%');
console.log(`       with fsync: always ${(await addedBy('always')).toFixed(1)} %`);

const dir = mkdtempSync(join(tmpdir(), 'nacre-bench-'));
const log = createAuditLog({ dir, fsync: 'interval', redact: createRedact([]) });
for (let count = 0; count < 10_000; count += 1) recordCommand(log, `cmd_${count}`, 'ls -la');
log.close();
const start = performance.now();
const { problems, records } = verifyAudit(dir);
const what = `10000 commands verified (${records} records, ${problems.length} problems)`;
report(what, performance.now() - start, 2_000, 'ms');
rmSync(dir, { recursive: true });
