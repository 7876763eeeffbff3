import { type DataTable, Given, Then, When } from 'quickpickle';
import { expect } from 'vitest';
import { ShellManager, type ShellProcess, type ToolResult } from '../../src/index.ts';
import type { BashWorld } from './bash-world.ts';

const polling = { timeout: 15_000 };

Given('a background shell', async (world: BashWorld) => {
  await world.start('echo something; sleep 300');
});

Given(/^a background shell running "(.*)"$/, async (world: BashWorld, command: string) => {
  const shell = await world.start(command);
  if (command.includes('echo')) await written(shell, /\S/);
});

Given('a background shell running a long command', async (world: BashWorld) => {
  await world.start('sleep 300');
});

Given(/^a background shell that ran "(.*)" and completed$/, async (world: BashWorld, command: string) => {
  await (await world.start(command)).wait();
});

Given(/^a background shell that (?:already )?completed$/, async (world: BashWorld) => {
  await (await world.start('echo over')).wait();
});

Given('a background shell producing continuous output', async (world: BashWorld) => {
  const shell = await world.start('for ((n = 1; ; n++)); do echo "tick $n;"; sleep 0.05; done');
  await written(shell, /tick 2/);
});

Given('a background shell that produced output with "error" and "info" lines', async (world: BashWorld) => {
  await (await world.start("printf 'error: one\\ninfo: two\\nan error\\n'; echo 'info: three' >&2")).wait();
});

Given(/^no shell exists with id "(.*)"$/, async (_world: BashWorld, id: string) => {
  expect(await ShellManager.getShell(id)).toBeNull();
});

When(/^I execute BashOutputTool with bash_id="(.*)"$/, async (world: BashWorld, bash_id: string) => {
  await world.execute('BashOutput', { bash_id });
});

When(/^I execute BashOutputTool again with bash_id="(.*)"$/, async (world: BashWorld, bash_id: string) => {
  const noted = Number(world.returned);
  await expect
    .poll(async () => (await world.shell.readOutput()).stdoutBuffer.length, polling)
    .toBeGreaterThan(noted);
  await world.execute('BashOutput', { bash_id });
});

When('I execute BashOutputTool with:', async (world: BashWorld, table: DataTable) => {
  await world.execute('BashOutput', table.rowsHash());
});

When(/^I execute KillShellTool with shell_id="(.*)"$/, async (world: BashWorld, shell_id: string) => {
  await world.execute('KillShell', { shell_id });
});

When('I note the output', async (world: BashWorld) => {
  expect(ticks(world.result)).not.toEqual([]);
  world.returned = (await world.shell.readOutput()).stdoutBuffer.length;
});

Then('the second result should only contain NEW output', (world: BashWorld) => {
  const [first, second] = world.results.map(ticks);
  expect(second?.[0]).toBe((first?.at(-1) ?? Number.NaN) + 1);
});

Then('the second result should NOT contain output from first read', (world: BashWorld) => {
  const [first, second] = world.results.map(ticks);
  expect(second?.filter((tick) => first?.includes(tick))).toEqual([]);
});

Then('the output should contain a bash_id', (world: BashWorld) => {
  expect(world.result.output).toContain(String(world.result.metadata.bash_id));
});

Then(/^metadata should contain bash_id matching "shell_\*"$/, (world: BashWorld) => {
  expect(world.result.metadata.bash_id).toMatch(/^shell_\w+$/);
});

Then('the execution should complete in less than 1 second', (world: BashWorld) => {
  expect(world.returned).toBeLessThan(1_000);
});

Then('a background shell should be running', async (world: BashWorld) => {
  const running = await ShellManager.listRunning();
  expect(running.map(({ id }) => id)).toEqual([world.result.metadata.bash_id]);
});

Then(/^the shell status should be "(\w+)"$/, async (world: BashWorld, status: string) => {
  expect(world.shell.status === status || (await world.shell.readOutput()).status === status).toBe(true);
});

Then('the shell should no longer be running', async (world: BashWorld) => {
  expect((await world.shell.readOutput()).isRunning).toBe(false);
});

/** Waits until stdout of a shell matches; does not consume output that `BashOutput` would return. */
async function written(shell: ShellProcess, pattern: RegExp): Promise<void> {
  await expect.poll(async () => (await shell.readOutput()).stdoutBuffer, polling).toMatch(pattern);
}

function ticks({ output }: ToolResult): number[] {
  return [...output.matchAll(/tick (\d+);/g)].map(([, number]) => Number(number));
}
