import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { parse } from 'yaml';
import { dataOf } from '../support/mcp.ts';
import { shareServers } from './shared-servers.ts';

const serve = shareServers();

const check = async (args: Record<string, unknown>) => {
  const { client, cwd } = await serve({ env: { ALLOWED_COMMANDS: 'env,ls' } });
  const reply = await client.callTool({ name: 'check_command', arguments: args });
  const [first] = reply.content as { text: string }[];
  return {
    cwd,
    yaml: parse(first?.text ?? ''),
    structured: dataOf(reply),
    isError: reply.isError === true,
  };
};

test('T9: check_command explains a refusal with the smallest change that would allow it, and runs nothing', async () => {
  const { yaml, structured, isError, cwd } = await check({ command: 'env A=1 touch made' });
  expect(structured).toMatchObject({
    verdict: 'deny',
    rule: 'not_listed',
    reason: expect.stringContaining('touch'),
    remedy: 'Run nacre allow touch, or add touch to ALLOWED_COMMANDS.',
    programs: [
      { name: 'env', at: '0-3' },
      { name: 'touch', at: '8-13', started_by: 'env', path: '/usr/bin/touch' },
    ],
  });
  expect(yaml).toEqual(structured);
  expect(isError).toBe(false);
  expect(existsSync(join(cwd, 'made'))).toBe(false);
});

test('P2: a wrapper is allowed if the program it runs is listed too', async () => {
  expect((await check({ command: 'env A=1 ls' })).structured).toMatchObject({ verdict: 'allow' });
});

test('E6: invalid fields are named in the reply', async () => {
  const { structured, isError } = await check({ command: 5, cdw: '.' });
  expect(isError).toBe(true);
  expect(structured).toMatchObject({ code: 'invalid_request', error: expect.stringMatching(/command.*cdw/) });
});
