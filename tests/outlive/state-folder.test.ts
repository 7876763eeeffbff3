// The state folder disappears while commands run in the worker.
import { existsSync, renameSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { createOutliveHome } from '../support/outlive.ts';
import { commandLine } from '../support/processes.ts';

const patient = { timeout: 40_000, interval: 100 };

test.each([
  ['deleted', (state: string) => rmSync(state, { recursive: true })],
  ['renamed', (state: string) => renameSync(state, `${state}-old`)],
])(
  'a worker whose state folder is %s ends with its commands, and the next command works',
  {
    timeout: 120_000,
  },
  async (_, lose) => {
    const home = createOutliveHome();
    const client = await home.open();
    await client.call('start_command', { command: 'echo up; sleep 7200', name: 'kept' });
    const [worker] = home.workers();
    if (!worker) throw new Error('There is no worker.');
    lose(home.state);
    await expect.poll(() => existsSync(join('/proc', String(worker.pid))), patient).toBe(false);
    expect(home.processes().map(commandLine)).not.toContain('sleep\x007200\x00');
    expect(await client.call('start_command', { command: 'echo next', wait_ms: 20_000 })).toContain('next');
    expect(await client.call('list_commands', {})).toMatch(/"kept".*status: "(killed|lost)"/);
    await client.leave();
  },
);
