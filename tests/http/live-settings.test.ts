import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { serve, type TestServer } from '../support/http.ts';

let server: TestServer;
const write = (text: string) => writeFileSync(join(server.cwd, '.config/nacre/config.yaml'), text);

beforeEach(async () => {
  server = await serve({ userFile: 'shell_allowlist: [echo]\n' });
});

afterEach(async () => {
  expect(await server.close()).toEqual([]);
});

describe('E8: an edit of the user’s file while a server serves HTTP', () => {
  test('that is wrong refuses commands and names the line, until it is mended', async () => {
    expect(await server.shell('echo', ['a'])).toMatchObject({ status: 200, body: { stdout: 'a\n' } });
    write('danger: maybe\n');
    expect(await server.shell('echo', ['a'])).toMatchObject({
      status: 500,
      body: { error: expect.stringContaining('config.yaml:1: danger cannot be "maybe"') },
    });
    write('shell_allowlist: [echo] # as before\n');
    expect(await server.shell('echo', ['a'])).toMatchObject({ status: 200 });
  });

  test('never leaves the old list in force', async () => {
    write('shell_allowlist: [cat]\n');
    const { status } = await server.shell('echo', ['a']);
    // As root the change waits for a restart, and nothing runs until then; else it holds.
    expect(status).toBe(process.getuid?.() === 0 ? 500 : 403);
  });
});
