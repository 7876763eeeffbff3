import { readdirSync, renameSync, utimesSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { temporaryFolder } from '../../tests/support/temporary-folder.ts';
import { askServers } from './reach-servers.ts';

test('files of servers that were killed before their socket had its name are removed once they are old', async () => {
  const controlDir = temporaryFolder();
  const open = (name: string) => {
    const server = createServer();
    return new Promise<typeof server>((resolve) => {
      server.listen(join(controlDir, name), () => resolve(server));
    });
  };
  const ask = async () => (await askServers({ controlDir }, { method: 'list' })).close();
  const alive = await open('1_alive.sock.new');
  const killed = await open('2_killed.sock.draft');
  // A server that ends removes the name on which it listened, and nothing else.
  renameSync(join(controlDir, '2_killed.sock.draft'), join(controlDir, '2_killed.sock.new'));
  await new Promise((resolve) => killed.close(resolve));
  for (const name of ['1_alive', '2_killed', '3_early'])
    writeFileSync(join(controlDir, `${name}.sock.secret`), '');
  const all = readdirSync(controlDir).sort();
  await ask();
  expect(readdirSync(controlDir).sort()).toEqual(all);
  const before = new Date(Date.now() - 120_000);
  for (const name of all) utimesSync(join(controlDir, name), before, before);
  await ask();
  expect(readdirSync(controlDir).sort()).toEqual(['1_alive.sock.new', '1_alive.sock.secret']);
  alive.close();
});
