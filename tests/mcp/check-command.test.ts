import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { parse } from 'yaml';
import { connect } from '../support/mcp.ts';

let here: Awaited<ReturnType<typeof connect>>;
beforeEach(async () => {
  here = await connect({ env: { ALLOWED_COMMANDS: 'env,ls' } });
});
afterEach(async () => {
  expect(await here.close()).toEqual([]);
});

const check = async (args: Record<string, unknown>) => {
  const reply = await here.client.callTool({ name: 'check_command', arguments: args });
  const [first] = reply.content as { text: string }[];
  return {
    yaml: parse(first?.text ?? ''),
    structured: reply.structuredContent,
    isError: reply.isError === true,
  };
};

test('T9: check_command explains a refusal with the smallest change that would allow it, and runs nothing', async () => {
  const { yaml, structured, isError } = await check({ command: 'env A=1 touch made' });
  expect(structured).toMatchObject({
    verdict: 'deny',
    rule: 'not_listed',
    reason: expect.stringContaining('touch'),
    remedy: 'Add touch to ALLOWED_COMMANDS.',
    programs: [
      { name: 'env', at: '0-3' },
      { name: 'touch', at: '8-13', started_by: 'env', path: '/usr/bin/touch' },
    ],
  });
  expect(yaml).toEqual(structured);
  expect(isError).toBe(false);
  expect(existsSync(join(here.cwd, 'made'))).toBe(false);
});

test('P2: a wrapper and what it runs are allowed when both are listed', async () => {
  expect((await check({ command: 'env A=1 ls' })).structured).toMatchObject({ verdict: 'allow' });
});

test('E6: a wrong call is answered by name', async () => {
  const { structured, isError } = await check({ command: 5, cdw: '.' });
  expect(isError).toBe(true);
  expect(structured).toMatchObject({ code: 'invalid_request', error: expect.stringMatching(/command.*cdw/) });
});
