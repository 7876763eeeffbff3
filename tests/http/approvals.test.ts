import { existsSync, mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { serve } from '../support/http.ts';
import { runInProcess } from '../support/nacre.ts';

const userFile = `policy:
  - verdict: ask
    program: touch
    reason: Files are made with care.
    examples: { matches: ["touch x"], spares: ["ls x"] }
`;
// Where root runs the tests, only a sandbox keeps commands from the socket.
const hidden = { SHELL_ALLOWLIST: '*', NACRE_SANDBOX: 'workspace' };

it('T9, E5: what comes over HTTP waits as well', async () => {
  const http = await serve({ env: hidden, userFile });
  const cwd = join(http.cwd, 'project');
  mkdirSync(cwd);
  const post = () => http.post('/api/shell', { command: 'touch', args: ['made'], cwd });
  const asked = await post();
  expect(asked).toMatchObject({ status: 403, body: { error: expect.stringContaining('waits') } });
  const [id = ''] = /apr_\w+/.exec(String(asked.body.error)) ?? [];
  expect((await runInProcess(['approvals'], http)).stdout).toContain('runs    | "touch" "made"\n');
  expect((await runInProcess(['approvals', 'approve', id], http)).code).toBe(0);
  expect(await post()).toMatchObject({ status: 200, body: { code: 0 } });
  expect(existsSync(join(cwd, 'made'))).toBe(true);
  expect(await http.close()).toEqual([]);
});
