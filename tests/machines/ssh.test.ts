// Commands on real machines over ssh: each machine is a set of namespaces with its own sshd, users and network.
import { execFileSync } from 'node:child_process';
import { existsSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { connect } from '../support/mcp.ts';
import { sleep } from '../support/nacre.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';

const hosts = join(temporaryFolder(), 'hosts');
const script = fileURLToPath(new URL('./hosts/ssh.sh', import.meta.url));
const ssh = (...words: readonly string[]) =>
  execFileSync(script, words, { stdio: ['ignore', 'inherit', 'inherit'] });

const missing = () => {
  if (process.getuid?.() !== 0) return 'needs root, to create machines';
  const programs = ['/usr/sbin/sshd', '/usr/sbin/ip'].filter(
    (path) => !existsSync(path) && !existsSync(path.replace('/usr', '')),
  );
  return programs.length > 0 ? `needs ${programs.join(' and ')}` : undefined;
};
const reason = missing();
const testThere = test.skipIf(reason !== undefined);
const title = (text: string) => (reason === undefined ? text : `${text} (${reason})`);

const entry = (host: string) => `{ ssh: ${host}, ssh_config: ${hosts}/config }`;
const names: Readonly<Record<string, string>> = {
  ...{ dev: 'h1', root: 'root@h1', loud: 'loud@h1', posix: 'posix@h1' },
  ...{ nodeless: 'h2', bare: 'h3', jump: 'h3-by-h1', unknown: 'unknown' },
};
const machines = Object.entries(names).map(([name, host]) => `  ${name}: ${entry(host)}\n`);
const userFile = `allowed_commands: ['*']\ndanger: off\nmachines:\n${machines.join('')}`;

let server: Awaited<ReturnType<typeof connect>>;

beforeAll(async () => {
  if (reason !== undefined) return;
  ssh('up', hosts, '3', '2:node', '2:bwrap', '3:bwrap');
  server = await connect({ userFile });
});

afterAll(async () => {
  if (reason !== undefined) return;
  const left = await server.close();
  ssh('down', hosts);
  rmSync(hosts, { recursive: true, force: true });
  expect(left).toEqual([]);
});

testThere.each([
  ['dev', 'h1', 'dev', 'an ordinary user'],
  ['root', 'h1', 'root', 'root'],
  ['loud', 'h1', 'loud', 'a user whose shell prints a banner'],
  ['posix', 'h1', 'posix', 'a user whose shell is /bin/sh'],
  ['nodeless', 'h2', 'dev', 'a machine without Node.js and bubblewrap'],
  ['bare', 'h3', 'dev', 'a machine without bubblewrap'],
  ['jump', 'h3', 'dev', 'a machine behind a jump host'],
])(title('%s runs commands on %s as %s: %s'), async (on, host, user) => {
  const { structured } = await server.call({ command: 'uname -n; id -un; exit 3', on });
  expect(structured).toMatchObject({ exit_code: 3, stdout: `${host}\n${user}\n` });
});

testThere(
  title('S6: commands get variables of start-up files, and those that look secret are masked'),
  async () => {
    const fresh = await connect({ userFile: `redact_output: true\n${userFile}` });
    const command = 'echo "$COLOR [$SERVICE_TOKEN] far-value-1"';
    const { structured } = await fresh.call({ command, on: 'loud' });
    expect(structured).toMatchObject({ stdout: 'grey [] ***********\n' });
    expect(await fresh.close()).toEqual([]);
  },
);

testThere(title('an unknown host key is an error that says how to accept it'), async () => {
  const { text } = await server.call({ command: 'true', on: 'unknown' });
  expect(text).toContain('its host key is not known');
  expect(text).toContain('StrictHostKeyChecking=ask unknown true');
});

testThere(title('a machine that is off is an error within 10 s, and others answer meanwhile'), async () => {
  ssh('off', hosts, '2');
  const fresh = await connect({ userFile });
  const begun = performance.now();
  const [off, other] = await Promise.all([
    fresh.call({ command: 'true', on: 'nodeless' }),
    fresh.call({ command: 'echo here', on: 'bare' }),
  ]);
  expect(off.text).toContain('The machine nodeless cannot be used');
  expect(performance.now() - begun).toBeLessThan(11_000);
  expect(other.structured).toMatchObject({ stdout: 'here\n' });
  await fresh.close();
  ssh('on', hosts, '2');
});

testThere(title('a command is taken up again with every byte after the network was gone'), async () => {
  const command = 'for i in $(seq 400); do echo line $i; sleep 0.05; done; exit 7';
  const { structured } = await server.use('start_command', { command, on: 'dev', wait_ms: 0 });
  await sleep(2_000);
  ssh('cut', hosts, '1');
  await sleep(6_000);
  ssh('heal', hosts, '1');
  let all = String(structured.stdout ?? '');
  const id = structured.command_id;
  const read = async () => {
    const reply = await server.use('read_output', {
      command_id: id,
      wait_ms: 20_000,
      max_output_chars: 100_000,
    });
    all += String(reply.structured.stdout);
    return reply.structured.exit_code;
  };
  await expect.poll(read, { timeout: 100_000 }).toBe(7);
  expect(all).toBe(Array.from({ length: 400 }, (_, at) => `line ${at + 1}\n`).join(''));
});

testThere(
  title('a command on a machine that lost its power is lost, and no exit code is guessed'),
  async () => {
    const { structured } = await server.use('start_command', {
      command: 'sleep 600',
      on: 'bare',
      wait_ms: 0,
    });
    ssh('off', hosts, '3');
    await sleep(500);
    ssh('on', hosts, '3');
    const read = async () =>
      (await server.use('read_output', { command_id: structured.command_id, wait_ms: 5_000 })).structured;
    await expect.poll(async () => (await read()).status, { timeout: 100_000 }).toBe('lost');
    expect((await read()).exit_code ?? null).toBeNull();
    expect((await server.call({ command: 'echo again', on: 'bare' })).structured).toMatchObject({
      stdout: 'again\n',
    });
  },
);
