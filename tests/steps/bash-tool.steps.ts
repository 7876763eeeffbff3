import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type DataTable, Given, Then, When } from 'quickpickle';
import { expect } from 'vitest';
import type { BashWorld } from './bash-world.ts';

// The first command of a process creates the engine; run one before the steps that measure time.
Given('an execution context', async (world: BashWorld) => {
  await world.nacre.run('true');
});

Given(/^an execution context with working_dir="(.*)"$/, (world: BashWorld, path: string) => {
  const workingDir = world.toOwn(path);
  mkdirSync(workingDir, { recursive: true });
  world.context = { ...world.context, workingDir };
});

Given('an execution context with dry_run=true', (world: BashWorld) => {
  mkdirSync(join(world.temporary, 'test'));
  world.context = { ...world.context, dryRun: true };
});

Given('a directory with files', (world: BashWorld) => {
  for (const name of files) writeFileSync(join(world.home, name), '');
});

Given('an execution context with a temp file', (world: BashWorld) => {
  writeFileSync(join(world.temporary, 'test_file.txt'), '');
});

Given('an execution context with a git repository', (world: BashWorld) => {
  execFileSync('git', ['init', '-q', '-b', 'trunk', world.home]);
});

Given('an execution context with package.json', (world: BashWorld) => {
  writeFileSync(join(world.home, 'package.json'), '{"name":"x","version":"1.0.0"}');
});

When(/^I execute BashTool with command="(.*)"$/, async (world: BashWorld, command: string) => {
  // A dry run for `@blocked` scenarios, so that a bug in policy cannot run a dangerous command.
  const context = world.tagsMatch(['@blocked']) ? { ...world.context, dryRun: true } : world.context;
  await world.execute('Bash', { command }, context);
});

When('I execute BashTool with:', async (world: BashWorld, table: DataTable) => {
  const started = performance.now();
  await world.execute('Bash', table.rowsHash());
  world.returned = performance.now() - started;
});

When(
  'I execute BashTool with command that produces {int} characters',
  async (world: BashWorld, count: number) => {
    await world.execute('Bash', { command: `head -c ${count} /dev/zero | tr '\\0' x` });
  },
);

Then('the result should be successful', (world: BashWorld) => {
  expect(world.result).toMatchObject({ success: true });
  expect(world.result).not.toHaveProperty('error');
});

Then('the result should be failed', (world: BashWorld) => {
  expect(world.result).toMatchObject({ success: false, error: expect.stringMatching(/\S/) });
});

Then('the result should NOT be blocked for security', (world: BashWorld) => {
  expect(world.result.error ?? '').not.toMatch(/blocked|dangerous/i);
  expect(existsSync(join(world.temporary, 'test_file.txt'))).toBe(false);
});

Then(/^the output should contain "([^"]*)"(?: lines)?$/, (world: BashWorld, text: string) => {
  expect(world.result.output).toContain(text);
});

Then(/^the output should NOT contain "([^"]*)"(?: lines)?$/, (world: BashWorld, text: string) => {
  expect(world.result.output).not.toContain(text);
});

Then(/^the error should contain "([^"]*)"$/, (world: BashWorld, text: string) => {
  expect(world.result.error?.toLowerCase()).toContain(text.toLowerCase());
});

Then('the error should indicate the command failed', (world: BashWorld) => {
  expect(world.result.error).toMatch(/fail|exit code/i);
});

Then('the output should list the files', (world: BashWorld) => {
  for (const name of files) expect(world.result.output).toContain(name);
});

Then('the output should be truncated at {int} characters', (world: BashWorld, most: number) => {
  const kept = world.result.output.match(/x/g)?.length ?? 0;
  expect(kept).toBeLessThanOrEqual(most);
  expect(kept).toBeGreaterThan(most - 1_000);
});

Then('the command should NOT be executed', (world: BashWorld) => {
  expect(existsSync(join(world.temporary, 'test'))).toBe(true);
});

Then('the output should contain git status information', (world: BashWorld) => {
  expect(world.result.output).toContain('On branch trunk');
});

Then('the output should contain a version number', (world: BashWorld) => {
  expect(world.result.output).toMatch(/\d+\.\d+\.\d+/);
});

Then(
  /^(?:the result )?metadata should contain (\w+)=(.*)$/,
  (world: BashWorld, key: string, words: string) => {
    expect(world.result.metadata[key]).toEqual(JSON.parse(words));
  },
);

Then(/^metadata should contain (\w+)$/, (world: BashWorld, key: string) => {
  expect(world.result.metadata).toHaveProperty(key);
});

const files = ['one.txt', 'two words.txt', '.hidden'];
