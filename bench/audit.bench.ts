// What the audit adds to a command: the engine running `true` with it and without.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createAuditLog } from '../src/audit/audit-log.ts';
import { createRedact } from '../src/audit/redact.ts';
import { verifyAudit } from '../src/audit/verify.ts';
import { recordCommand } from '../tests/support/audit.ts';
import { createBenchEngines, interleave, median, report, runIn } from './measure.ts';

// Two at a time: what one leaves to the disk would otherwise slow down the next. A shell is started for each that was
// used: the rest is long enough for it to be ready again.
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
const what = `10000 commands verified (${records} records, ${problems.length} problems)`;
report(what, performance.now() - start, 2_000, 'ms');
rmSync(dir, { recursive: true });
