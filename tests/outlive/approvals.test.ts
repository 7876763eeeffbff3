import { existsSync, readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { createOutliveHome, type OutliveClient, type OutliveHome } from '../support/outlive.ts';

const userFile = `policy:
  - verdict: ask
    program: touch
    reason: Files are made with care.
    examples: { matches: ["touch x"], spares: ["ls x"] }
`;
// As root, only a sandbox hides the approvals from commands.
const create = (env: Readonly<Record<string, string>> = {}) =>
  createOutliveHome({ userFile, env: { NACRE_SANDBOX: 'workspace', ...env } });

const ask = async (client: OutliveClient, command: string) => {
  const text = await client.call('execute_command', { command });
  expect(text).toContain('approval_required');
  return /apr_\w+/.exec(text)?.[0] ?? '';
};
const exists = ({ project }: OutliveHome, name: string) => existsSync(join(project, name));
const saved = ({ state }: OutliveHome) => {
  const folder = join(state, 'approvals');
  return existsSync(folder) ? readdirSync(folder) : [];
};

// A new server opens its control socket shortly after it has answered the first messages.
const untilListed = (home: OutliveHome, id: string) =>
  expect.poll(() => home.nacre('approvals'), { timeout: 20_000 }).toContain(id);

test('a request stays pending after its server was killed, and its approval is used once', {
  timeout: 120_000,
}, async () => {
  const home = create();
  const first = await home.open();
  const id = await ask(first, 'touch made');
  expect(statSync(join(home.state, 'approvals')).mode & 0o777).toBe(0o700);
  expect(statSync(join(home.state, 'approvals', `${id}.json`)).mode & 0o777).toBe(0o600);
  await first.kill();
  const second = await home.open();
  await untilListed(home, id);
  expect(await home.nacre('approvals')).toMatch(
    new RegExp(`^${id} .*tester over mcp\\n[^]*runs +\\| touch made\\n$`),
  );
  expect(await home.nacre('approvals', 'approve', id)).toContain(`${id} approved`);
  await expect(home.nacre('approvals', 'deny', id)).rejects.toThrow(/No request/);
  await second.kill();
  const third = await home.open();
  expect(await ask(third, 'touch other')).not.toBe(id);
  expect(await third.call('execute_command', { command: 'touch made' })).toContain('exit_code: 0');
  expect(exists(home, 'made')).toBe(true);
  expect(await ask(third, 'touch made')).not.toBe(id);
  await third.kill();
});

test('a call that waits in the new server gets the answer that is given there', {
  timeout: 120_000,
}, async () => {
  const home = create();
  const first = await home.open();
  const id = await ask(first, 'touch made');
  await first.kill();
  const second = await home.open();
  const waiting = second.call('execute_command', { command: 'touch made' });
  await untilListed(home, id);
  await home.nacre('approvals', 'approve', id);
  expect(await waiting).toContain('exit_code: 0');
  expect(saved(home)).toEqual([]);
  await second.kill();
});

test('neither another client nor another command, directory, input or variable uses an approval', {
  timeout: 180_000,
}, async () => {
  const home = create();
  const first = await home.open();
  const id = await ask(first, 'touch made');
  await first.kill();
  const second = await home.open();
  await untilListed(home, id);
  await home.nacre('approvals', 'approve', id);
  const stranger = await home.open('stranger');
  expect(await ask(stranger, 'touch made')).not.toBe(id);
  await stranger.kill();
  for (const changed of [
    { command: 'touch made ' },
    { command: 'touch made', cwd: '/tmp' },
    { command: 'touch made', env: { A: 'b' } },
    { command: 'touch made', input: 'x' },
  ]) {
    const text = await second.call('execute_command', changed);
    expect([text, text.includes(id)]).toEqual([expect.stringContaining('approval_required'), false]);
  }
  expect(exists(home, 'made')).toBe(false);
  expect(await second.call('execute_command', { command: 'touch made' })).toContain('exit_code: 0');
  await second.kill();
});

test('a denial stays after a restart, and a request into a persistent shell finds that shell', {
  timeout: 120_000,
}, async () => {
  const home = create();
  const first = await home.open();
  const denied = await ask(first, 'touch denied');
  await first.call('Bash', { command: 'x=made' });
  const intoShell = await first.call('Bash', { command: 'touch "$x"' });
  const id = /apr_\w+/.exec(intoShell)?.[0] ?? '';
  await home.nacre('approvals', 'deny', denied);
  await first.kill();
  const second = await home.open();
  expect(await second.call('execute_command', { command: 'touch denied' })).toContain('The user declined');
  await untilListed(home, id);
  await home.nacre('approvals', 'approve', id);
  await second.call('Bash', { command: 'touch "$x"' });
  expect(exists(home, 'made')).toBe(true);
  await second.kill();
});

test('an expired request is removed from the disk', { timeout: 120_000 }, async () => {
  const home = create({ NACRE_APPROVAL_SECONDS: '1' });
  const first = await home.open();
  await ask(first, 'touch made');
  await first.kill();
  const second = await home.open();
  await second.call('list_commands', {});
  await expect
    .poll(async () => [await home.nacre('approvals'), saved(home)])
    .toEqual([expect.stringContaining('Nothing is waiting'), []]);
  await second.kill();
});

test('with outlive: off, requests end with their server and are not saved', {
  timeout: 120_000,
}, async () => {
  const home = create({ NACRE_OUTLIVE: 'off' });
  const first = await home.open();
  await ask(first, 'touch made');
  expect(saved(home)).toEqual([]);
  await first.kill();
});
