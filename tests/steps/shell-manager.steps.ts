import { Given, Then, When } from 'quickpickle';
import { expect, vi } from 'vitest';
import { ShellManager, ShellProcess } from '../../src/index.ts';
import type { BashWorld } from './bash-world.ts';

const hourMs = 3_600_000;

Given('a ShellManager instance', () => {
  expect(new ShellManager()).toBeInstanceOf(ShellManager);
});

// nacre generates the ids, so the id in the step's text means the shell that was created.
Given(/^a ShellManager with a shell "(\w+)"$/, async (world: BashWorld) => {
  await create(world, 'sleep 300');
});

Given(/^a ShellManager with no shell "(\w+)"$/, async (_world: BashWorld, id: string) => {
  expect((await ShellManager.listShells()).map((shell) => shell.id)).not.toContain(id);
});

Given(/^a ShellManager with (\d+)(?: running)? shells$/, async (world: BashWorld, count: string) => {
  for (let created = 0; created < Number(count); created += 1) await create(world, 'sleep 300');
});

Given('a ShellManager with running shells', async (world: BashWorld) => {
  for (let created = 0; created < 2; created += 1) await create(world, 'sleep 300');
  world.returned = new ShellManager();
});

Given('a ShellManager with 2 running and 1 completed shell', async (world: BashWorld) => {
  for (let created = 0; created < 2; created += 1) await create(world, 'sleep 300');
  await (await create(world, 'true')).wait();
});

Given('a ShellManager with shells completed more than 1 hour ago', async (world: BashWorld) => {
  for (let created = 0; created < 2; created += 1) await (await create(world, 'true')).wait();
  vi.useFakeTimers({ toFake: ['Date'], now: Date.now() + 2 * hourMs });
  await create(world, 'sleep 300');
  await (await create(world, 'true')).wait();
});

Given(/^I create ShellManager instance ([AB])$/, (world: BashWorld, name: string) => {
  world.managers[name] = new ShellManager();
});

When(/^I call create_shell\("(.*)", "(.*)"\)$/, async (world: BashWorld, command: string, path: string) => {
  world.returned = await create(world, command, world.toOwn(path));
});

When(/^I call get_shell\("(\w+)"\)$/, async (world: BashWorld, id: string) => {
  world.returned = await ShellManager.getShell(world.shells.length > 0 ? world.shell.id : id);
});

When('I call list_shells\\()', async (world: BashWorld) => {
  world.returned = await ShellManager.listShells();
});

When('I call list_running\\()', async (world: BashWorld) => {
  world.returned = await ShellManager.listRunning();
});

When(/^I call cleanup_completed\(max_age_seconds=(\d+)\)$/, async (world: BashWorld, seconds: string) => {
  world.returned = await ShellManager.cleanupCompleted({ maxAgeSeconds: Number(seconds) });
  vi.useRealTimers();
});

When('I call kill_all\\()', async (world: BashWorld) => {
  world.returned = await ShellManager.killAll();
});

When('I call ShellManager.reset\\()', async () => {
  await ShellManager.reset();
});

Then('a ShellProcess should be returned', (world: BashWorld) => {
  expect(world.returned).toBeInstanceOf(ShellProcess);
});

Then('the shell should have a unique id', async (world: BashWorld) => {
  const other = await ShellManager.createShell('true');
  expect(world.shell.id).toMatch(/^shell_\w+$/);
  expect(other.id).not.toBe(world.shell.id);
});

Then('the shell should be tracked in the manager', async (world: BashWorld) => {
  expect((await ShellManager.getShell(world.shell.id))?.command).toBe(world.shell.command);
});

Then('the correct ShellProcess should be returned', (world: BashWorld) => {
  expect(world.returned).toBeInstanceOf(ShellProcess);
  expect(world.returned).toMatchObject({ id: world.shell.id, command: 'sleep 300' });
});

Then('None should be returned', (world: BashWorld) => {
  expect(world.returned).toBeNull();
});

Then('a list of {int} ShellProcess objects should be returned', (world: BashWorld, count: number) => {
  expect(world.returned).toHaveLength(count);
  for (const shell of world.returned as unknown[]) expect(shell).toBeInstanceOf(ShellProcess);
});

Then('all should have is_running=true', (world: BashWorld) => {
  for (const shell of world.returned as ShellProcess[]) expect(shell.isRunning).toBe(true);
});

Then('old completed shells should be removed', async (world: BashWorld) => {
  const [one, two] = world.shells;
  expect(world.returned).toBe(2);
  for (const shell of [one, two]) expect(await ShellManager.getShell(shell?.id ?? '')).toBeNull();
});

Then('running shells should be kept', async (world: BashWorld) => {
  expect((await ShellManager.listRunning()).map(({ id }) => id)).toEqual([world.shells[2]?.id]);
});

Then('recently completed shells should be kept', async (world: BashWorld) => {
  expect((await ShellManager.getShell(world.shell.id))?.status).toBe('completed');
});

Then('all shells should be killed', async (world: BashWorld) => {
  expect(world.shells.map(({ status }) => status)).toEqual(world.shells.map(() => 'killed'));
  expect(await ShellManager.listRunning()).toEqual([]);
});

Then('the return value should be {int}', (world: BashWorld, value: number) => {
  expect(world.returned).toBe(value);
});

Then('A and B should be the same instance', ({ managers }: BashWorld) => {
  expect(managers.A).toBeInstanceOf(ShellManager);
  expect(managers.A).toBe(managers.B);
});

Then('shells created via A should be visible via B', async ({ managers }: BashWorld) => {
  const shell = await managers.A?.createShell('sleep 300');
  expect((await managers.B?.listShells())?.map(({ id }) => id)).toEqual([shell?.id]);
});

Then('the singleton should be cleared', async () => {
  expect(await ShellManager.listShells()).toEqual([]);
});

Then('the next ShellManager\\() should be a fresh instance', (world: BashWorld) => {
  expect(new ShellManager()).not.toBe(world.returned);
});

async function create(world: BashWorld, command: string, workingDir = world.home): Promise<ShellProcess> {
  const shell = await ShellManager.createShell(command, workingDir);
  world.shells.push(shell);
  return shell;
}
