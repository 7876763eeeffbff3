import { type DataTable, Given, Then, When } from 'quickpickle';
import { expect } from 'vitest';
import { ShellManager, type ShellStatus } from '../../src/index.ts';
import type { BashWorld } from './bash-world.ts';

Given(/^a ShellProcess with stdout_buffer="(.*)"$/, async (world: BashWorld, text: string) => {
  const shell = await ShellManager.createShell(`printf '${text}'`);
  expect((await shell.wait()).stdoutBuffer).toBe(unescapeNewlines(text));
  world.shells.push(shell);
});

Given(/^last_read_stdout=(\d+) \(after ".*"\)$/, (world: BashWorld, count: string) => {
  world.shell.lastReadStdout = Number(count);
});

Given('a ShellProcess with stdout and stderr buffers', async (world: BashWorld) => {
  world.shells.push(await (await ShellManager.createShell('echo good; echo bad >&2')).wait());
});

Given('a new ShellProcess', () => {});

Given(
  /^a ShellProcess that started at t=0 and completed at t=(\d+)$/,
  async (world: BashWorld, ms: string) => {
    const shell = await ShellManager.createShell(`sleep ${Number(ms) / 1_000}`);
    world.shells.push(await shell.wait());
  },
);

When('I call get_new_output\\()', async (world: BashWorld) => {
  world.returned = await world.shell.getNewOutput();
});

When('I call get_new_output\\(include_stderr=True)', async (world: BashWorld) => {
  world.returned = await world.shell.getNewOutput({ includeStderr: true });
});

When('I access duration_ms', (world: BashWorld) => {
  world.returned = world.shell.durationMs;
});

When('I observe the status through execution', async (world: BashWorld) => {
  world.returned = {
    'process started': await observe('true'),
    'exit_code == 0': await observe('true'),
    'exit_code != 0': await observe('exit 3'),
    'wait timeout exceeded': await observe('sleep 300', 1_000),
    'kill() called': await observe('sleep 300', undefined, true),
  };
});

Then(/^the result should be "(.*)"$/, (world: BashWorld, text: string) => {
  expect(world.returned).toBe(unescapeNewlines(text));
});

Then('last_read_stdout should be updated to {int}', (world: BashWorld, count: number) => {
  expect(world.shell.lastReadStdout).toBe(count);
});

Then('the result should contain stdout content', (world: BashWorld) => {
  expect(world.returned).toContain('good\n');
});

Then('the result should contain "[stderr]"', (world: BashWorld) => {
  expect(world.returned).toContain('[stderr]');
});

Then('the result should contain stderr content', (world: BashWorld) => {
  expect(world.returned).toMatch(/\[stderr\]\nbad\n/);
});

Then('status should transition:', (world: BashWorld, table: DataTable) => {
  for (const { from = '', to = '', trigger = '' } of table.hashes()) {
    const seen = (world.returned as Record<string, readonly string[]>)[trigger] ?? [];
    const at = seen.indexOf(from.toLowerCase());
    expect(seen.slice(at, at + 2)).toEqual([from.toLowerCase(), to.toLowerCase()]);
  }
});

Then('the result should be approximately {int}', (world: BashWorld, ms: number) => {
  expect(world.returned).toBeGreaterThanOrEqual(ms - 50);
  expect(world.returned).toBeLessThan(ms + 3_000);
});

async function observe(command: string, timeoutMs?: number, kill = false): Promise<readonly ShellStatus[]> {
  const seen: ShellStatus[] = [];
  const onStatus = (status: ShellStatus) => seen.push(status);
  const shell = await ShellManager.createShell(command, undefined, { timeoutMs, onStatus });
  if (kill) await shell.kill();
  await shell.wait();
  await expect.poll(() => seen.length).toBe(3);
  return seen;
}

function unescapeNewlines(text: string): string {
  return text.replaceAll('\\n', '\n');
}
