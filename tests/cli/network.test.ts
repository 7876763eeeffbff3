import { once } from 'node:events';
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { endOf, startReal } from '../support/nacre.ts';
import { needLevel, needPrograms } from '../support/needs.ts';

describe('nacre run with network_allow', () => {
  const web = createServer((_request, response) => response.end('hello\n'));
  let home = '';
  beforeAll(async () => {
    // Not below /tmp, because a sandbox mounts its own /tmp.
    home = mkdtempSync('/var/tmp/nacre-network-');
    mkdirSync(join(home, 'project'));
    await once(web.listen(0, '127.0.0.1'), 'listening');
  });
  afterAll(() => {
    web.closeAllConnections();
    web.close();
    rmSync(home, { recursive: true });
  });

  test('reaches listed hosts, and names the hosts that were refused', async (context) => {
    needPrograms(context, 'curl');
    await needLevel(context, 'namespace');
    const { port } = web.address() as AddressInfo;
    const script = `curl -s http://allowed.localhost:${port}/; curl -s http://denied.localhost:${port}/ > /dev/null`;
    const env = {
      PATH: process.env.PATH ?? '',
      HOME: home,
      NACRE_LOGIN_ENV: 'never',
      NACRE_SANDBOX: 'workspace',
      NACRE_NETWORK_ALLOW: `allowed.localhost:${port}`,
    };
    const run = (...flags: string[]) =>
      endOf(startReal(['run', ...flags, script], { env, cwd: join(home, 'project') }));
    const [text, json] = await Promise.all([run(), run('--json')]);
    expect(text).toMatchObject({ code: 0, stdout: 'hello\n' });
    const [line, ...others] = text.stderr.trimEnd().split('\n');
    expect(line).toMatch(/^nacre: This sandbox may not connect to denied\.localhost:\d+\. .*network_allow/);
    expect(others).toEqual([]);
    expect(JSON.parse(json.stdout)).toMatchObject({
      stdout: 'hello\n',
      denied_hosts: [`denied.localhost:${port}`],
    });
  });
});
