import { readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { createOutliveHome, type OutliveHome } from '../support/outlive.ts';

test('the logs of ended commands use no more disk than spool_total_bytes; the oldest are removed', {
  timeout: 120_000,
}, async () => {
  const home = createOutliveHome({ env: { NACRE_SPOOL_TOTAL_BYTES: '1000000' } });
  const client = await home.open();
  for (let number = 1; number <= 5; number += 1) {
    const command = `head -c 300000 /dev/zero | tr '\\0' ${number}; exit ${number}`;
    await client.call('start_command', { command, name: `big-${number}`, wait_ms: 20_000 });
  }
  await expect.poll(() => logBytes(home), { timeout: 20_000 }).toBeLessThan(1_000_000);
  expect(await client.call('list_commands', {})).toMatch(/"big-1".*exit_code: 1/);
  expect(await client.call('read_output', { command_id: 'big-1', cursor: 0 })).toContain(
    '300000 bytes of output are gone',
  );
  await client.kill();
  expect((await home.nacre('logs', 'big-5')).length).toBe(300_000);
});

function logBytes({ state }: OutliveHome): number {
  const files = readdirSync(join(state, 'worker'), { recursive: true, encoding: 'utf8' });
  // A link to the folder of the present worker is beside it.
  const logs = files.filter((file) => /\/worker-.*\/log$/.test(file));
  return logs.reduce((sum, file) => sum + statSync(join(state, 'worker', file)).size, 0);
}
