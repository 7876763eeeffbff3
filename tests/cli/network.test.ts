import { mkdirSync, rmSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { createPlace, runInProcess, survivors } from '../support/nacre.ts';

// A sandbox mounts its own /tmp, which would hide a home directory below /tmp.
const usualTemporary = process.env.TMPDIR;
const web = createServer((_asked, answer) => answer.end('hello\n'));
let port = 0;
beforeAll(async () => {
  process.env.TMPDIR = '/var/tmp';
  await new Promise<void>((resolve) => web.listen(0, '127.0.0.1', resolve));
  port = (web.address() as AddressInfo).port;
});
afterAll(async () => {
  process.env.TMPDIR = usualTemporary ?? '/tmp';
  web.closeAllConnections();
  await new Promise((resolve) => web.close(resolve));
});

it('nacre run reaches listed hosts, and names the hosts that were refused', async () => {
  const place = createPlace({ NACRE_SANDBOX: 'workspace', NACRE_NETWORK_ALLOW: `allowed.localhost:${port}` });
  mkdirSync(join(place.cwd, 'project'));
  const script = `curl -s http://allowed.localhost:${port}/; curl -s http://denied.localhost:${port}/ > /dev/null`;
  const words = ['run', '--cwd', 'project', script];
  expect(await runInProcess(words, place)).toEqual({
    code: 0,
    stdout: 'hello\n',
    stderr: `nacre: refused by network_allow: denied.localhost:${port}.\n`,
  });
  const { stdout } = await runInProcess(['run', '--json', ...words.slice(1)], place);
  expect(JSON.parse(stdout)).toMatchObject({ stdout: 'hello\n', denied_hosts: [`denied.localhost:${port}`] });
  expect(await survivors(place.mark)).toEqual([]);
  rmSync(place.cwd, { recursive: true });
});
