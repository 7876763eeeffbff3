// The worker cannot be started.
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { createOutliveHome } from '../support/outlive.ts';

test('where the worker cannot be started, background commands run in the server, which reports that', {
  timeout: 120_000,
}, async () => {
  const home = createOutliveHome();
  mkdirSync(home.state);
  writeFileSync(join(home.state, 'worker'), '');
  const client = await home.open();
  expect(await client.call('start_command', { command: 'sleep 7200', name: 'web' })).toMatch(/running/);
  expect(client.stderr()).toContain('Background commands and persistent shells end with this server.');
  await client.leave();
  await expect.poll(() => home.processes(), { timeout: 20_000 }).toEqual([]);
});
