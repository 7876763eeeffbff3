import { Given, Then, When } from 'quickpickle';
import { expect } from 'vitest';
import { ShellManager } from '../../src/index.ts';
import type { BashWorld } from './bash-world.ts';

When('I execute BashTool with run_in_background=true', async (world: BashWorld) => {
  await world.start('echo begun; sleep 0.3; echo ended');
});

When('I note the returned bash_id', (world: BashWorld) => {
  expect(world.shell.id).toMatch(/^shell_/);
});

When(/^I execute BashOutputTool to (?:check progress|get final output)$/, async (world: BashWorld) => {
  await world.execute('BashOutput', { bash_id: '{shell_id}' });
});

When('I wait for completion', async (world: BashWorld) => {
  await world.shell.wait();
});

When('I verify shell is running via BashOutputTool', async (world: BashWorld) => {
  const { metadata } = await world.execute('BashOutput', { bash_id: '{shell_id}' });
  expect(metadata).toMatchObject({ status: 'running', is_running: true });
});

When('I execute KillShellTool to terminate', async (world: BashWorld) => {
  expect(await world.execute('KillShell', { shell_id: '{shell_id}' })).toMatchObject({ success: true });
});

When('I verify shell is stopped via BashOutputTool', async (world: BashWorld) => {
  const { metadata } = await world.execute('BashOutput', { bash_id: '{shell_id}' });
  expect(metadata).toMatchObject({ is_running: false });
});

Then('all steps should succeed', (world: BashWorld) => {
  expect(world.results.map(({ success }) => success)).toEqual([true, true]);
});

Then('the final output should contain command results', (world: BashWorld) => {
  const all = world.results.map(({ output }) => output).join('');
  expect(all.match(/begun/g)).toHaveLength(1);
  expect(world.result.output).toContain('ended');
});

Then('the shell should transition from running to killed', (world: BashWorld) => {
  const [first, ...later] = world.results.map(({ metadata }) => metadata.status);
  expect([first, later.at(-1)]).toEqual(['running', 'killed']);
});

When('I start {int} background shells concurrently', async (world: BashWorld, count: number) => {
  const names = Array.from({ length: count }, (_, index) => `mine ${index}`);
  await Promise.all(names.map((name) => world.start(`echo '${name}'; sleep 300`)));
});

Then('all shells should have unique IDs', ({ shells }: BashWorld) => {
  expect(new Set(shells.map(({ id }) => id)).size).toBe(shells.length);
});

Then('all shells should be tracked by ShellManager', async ({ shells }: BashWorld) => {
  const tracked = (await ShellManager.listShells()).map(({ id }) => id);
  expect(tracked.sort()).toEqual(shells.map(({ id }) => id).sort());
});

Then('I should be able to get output from each independently', async (world: BashWorld) => {
  for (const shell of world.shells) {
    const mine = /mine \d/.exec(shell.command)?.[0] ?? '';
    await expect.poll(async () => (await shell.readOutput()).stdoutBuffer).toBe(`${mine}\n`);
    const { output } = await world.execute('BashOutput', { bash_id: shell.id });
    expect(output.match(/mine \d/g)).toEqual([mine]);
  }
});

Given('shell A running normally', async (world: BashWorld) => {
  world.named.A = await world.start('for ((n = 1; ; n++)); do echo "tick $n"; sleep 0.1; done');
});

Given('shell B that will timeout', async (world: BashWorld) => {
  const { metadata } = await world.nacre.registry.execute(
    'Bash',
    { command: 'sleep 300', run_in_background: true, timeout: 1_000 },
    world.context,
  );
  const shell = await ShellManager.getShell(String(metadata.bash_id));
  if (shell) world.named.B = shell;
});

When('shell B times out', async ({ named }: BashWorld) => {
  expect((await named.B?.wait())?.status).toBe('timeout');
});

Then('shell A should continue running', async ({ named }: BashWorld) => {
  expect((await named.A?.readOutput())?.isRunning).toBe(true);
});

Then('shell A output should be unaffected', async ({ named }: BashWorld) => {
  const output = async () => (await named.A?.readOutput())?.stdoutBuffer ?? '';
  const before = (await output()).length;
  await expect.poll(async () => (await output()).length).toBeGreaterThan(before);
  const ticks = [...(await output()).matchAll(/tick (\d+)/g)].map(([, tick]) => Number(tick));
  expect(ticks).toEqual(ticks.map((_, index) => index + 1));
});
