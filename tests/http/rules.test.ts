import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { serve } from '../support/http.ts';
import { runInProcess } from '../support/nacre.ts';

const policy = `policy:
  - verdict: ask
    program: touch
    reason: Files are made with care.
    examples: { matches: ["touch x"], spares: ["ls x"] }
`;
// As root, only a sandbox can hide the control socket from commands.
const hidden = { SHELL_ALLOWLIST: '*', NACRE_SANDBOX: 'workspace' };

test('T9, E5: a command over HTTP can wait for approval', async () => {
  const http = await serve({ env: hidden, userFile: policy });
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

test('E8: an invalid edit of the user’s file refuses commands and names the line, until it is corrected', async () => {
  const server = await serve({ userFile: 'shell_allowlist: [echo]\n' });
  const write = (text: string) => writeFileSync(join(server.cwd, '.config/nacre/config.yaml'), text);
  expect(await server.shell('echo', ['a'])).toMatchObject({ status: 200, body: { stdout: 'a\n' } });
  write('danger: maybe\n');
  expect(await server.shell('echo', ['a'])).toMatchObject({
    status: 500,
    body: { error: expect.stringContaining('config.yaml:1: danger cannot be "maybe"') },
  });
  write('shell_allowlist: [echo] # as before\n');
  expect(await server.shell('echo', ['a'])).toMatchObject({ status: 200 });
  write('shell_allowlist: [cat]\n');
  const { status } = await server.shell('echo', ['a']);
  // As root the change requires a restart, and nothing runs until then; otherwise it applies immediately.
  expect(status).toBe(process.getuid?.() === 0 ? 500 : 403);
  expect(await server.close()).toEqual([]);
});
