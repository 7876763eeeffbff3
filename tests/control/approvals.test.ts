import { constants, copyFileSync, cpSync, existsSync, mkdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { connect, eras } from '../support/mcp.ts';
import { runInProcess } from '../support/nacre.ts';
import { needRoot } from '../support/needs.ts';

const userFile = `policy:
  - verdict: ask
    program: touch
    reason: Files are made with care.
    examples: { matches: ["touch x"], spares: ["ls x"] }
`;

let server: Awaited<ReturnType<typeof connect>>;
// As root, only a sandbox can hide the control socket from commands.
const hidden = { ALLOWED_COMMANDS: '*', NACRE_SANDBOX: 'workspace' };
const open = async (more: Parameters<typeof connect>[0] = {}) => {
  server = await connect({ env: hidden, userFile, ...more });
  mkdirSync(project());
};
const close = async () => {
  expect(await server.close()).toEqual([]);
  rmSync(server.cwd, { recursive: true, force: true });
};

// A whole home directory cannot be a workspace.
const project = () => join(server.cwd, 'project');
const nacre = (...words: string[]) => runInProcess(words, server);
const exists = (name: string) => existsSync(join(project(), name));
const call = (input: object) => server.call({ cwd: 'project', ...input });
const ask = async (command: string) => {
  const reply = await call({ command });
  expect(reply).toMatchObject({ isError: true, structured: { code: 'approval_required', exit_code: null } });
  return /apr_\w+/.exec(reply.text)?.[0] ?? '';
};
const records = async () =>
  (await nacre('audit', 'export')).stdout
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line) as Record<string, unknown>);

describe.each(eras)('T9, P11: if the client cannot prompt, over %s', (era) => {
  beforeAll(() => open({ era }));
  afterAll(close);

  it('the request waits until it is approved at another terminal, and the user is recorded', async () => {
    const id = await ask('touch made');
    expect((await nacre('approvals')).stdout).toMatch(
      new RegExp(
        `^${id}  \\d+ s left  tester over mcp\\n  why +\\| touch needs approval: Files.*\\n  in +\\| ${project()}\\n  runs +\\| touch made\\n$`,
      ),
    );
    const again = call({ command: 'touch made' });
    expect(exists('made')).toBe(false);
    expect((await nacre('approvals', 'approve', id)).stdout).toContain(`${id} approved`);
    expect((await again).structured).toMatchObject({ exit_code: 0 });
    expect(exists('made')).toBe(true);
    const approved = (await records()).filter(({ kind }) => kind === 'approved');
    const by = expect.stringMatching(/^\S+, from another terminal$/);
    expect(approved).toMatchObject([
      { door: 'cli', client: 'terminal', by },
      { door: 'mcp', client: 'tester', by },
    ]);
    expect(await ask('touch made')).not.toBe(id);
  });
});

describe('T9: a request for approval', () => {
  beforeAll(() => open());
  afterAll(close);

  it('that is denied stays denied, which is recorded', async () => {
    const id = await ask('touch denied');
    expect((await nacre('approvals', 'deny', id)).stdout).toBe(`${id} denied.\n`);
    const reply = await call({ command: 'touch denied' });
    expect(reply).toMatchObject({ isError: true, structured: { code: 'policy_denied' } });
    expect(reply.text).toContain('declined');
    expect(exists('denied')).toBe(false);
    expect((await records()).filter(({ kind }) => kind === 'declined')).toHaveLength(1);
    expect(await nacre('approvals', 'approve', id)).toMatchObject({
      code: 125,
      stderr: expect.stringContaining(`No request ${id} is waiting`),
    });
  });

  it('can come from input that is typed into a shell', async () => {
    await server.use('start_command', { command: 'bash', cwd: 'project', name: 'shell', wait_ms: 0 });
    const type = () =>
      server.use('write_input', {
        command_id: 'shell',
        text: 'touch typed; echo done\n',
        wait_for: 'done',
        wait_ms: 5_000,
      });
    const id = /apr_\w+/.exec((await type()).text)?.[0] ?? '';
    expect((await nacre('approvals')).stdout).toMatch(/into +\| cmd_/);
    await nacre('approvals', 'approve', id);
    expect((await type()).structured).toMatchObject({ stdout: 'done\n' });
    expect(exists('typed')).toBe(true);
  });

  it('shows everything that matters, and no part can be mistaken for another', async () => {
    await call({
      command: 'touch a\r\x1b[2Ktouch \u202eb\napr_0  9 s left',
      env: { A: '1' },
      input: 'typed',
    });
    await call({ command: 'touch c', sandbox: 'strict' });
    const { stdout } = await nacre('approvals', 'list');
    expect(stdout).toContain('with    | A=1\n');
    expect(stdout).toContain('stdin   | typed\n');
    expect(stdout).toContain('sandbox | strict\n');
    expect(stdout).toContain('| touch a\\u{d}\\u{1b}[2Ktouch \\u{202e}b\n          | apr_0  9 s left\n');
    const listed = JSON.parse((await nacre('approvals', '--json')).stdout);
    expect(listed).toMatchObject([{ asked: { env: { A: '1' } } }, { asked: { sandbox: 'strict' } }]);
  });

  it('E5: cannot be approved by a command, from which the socket is hidden', async () => {
    const id = await ask('touch hidden');
    cpSync('dist', join(project(), 'dist'), { recursive: true });
    // The sandbox may hide the folder of `process.execPath`.
    copyFileSync(process.execPath, join(project(), 'node'), constants.COPYFILE_FICLONE);
    const own = `./node dist/cli.js approvals approve ${id}`;
    expect((await call({ command: own })).structured).toMatchObject({
      exit_code: 125,
      stderr: expect.stringContaining(`No request ${id} is waiting`),
    });
    expect((await nacre('approvals')).stdout).toContain(id);
  });

  it.each([[['approve']], [['deny', 'a', 'b']], [['other', 'a']]])(
    'cannot be answered with the arguments %j',
    async (words) => {
      expect(await nacre('approvals', ...words)).toMatchObject({
        code: 125,
        stderr: expect.stringContaining('approve ID or deny ID'),
      });
    },
  );
});

describe('T9: a deadline', () => {
  beforeAll(() => open({ env: { ...hidden, NACRE_APPROVAL_SECONDS: '1' } }));
  afterAll(close);

  it('ends a request for approval', async () => {
    const id = await ask('touch made');
    await expect.poll(async () => (await nacre('approvals')).stdout, { timeout: 10_000 }).toMatch(/^Nothing/);
    expect((await nacre('approvals', 'approve', id)).code).toBe(125);
    expect(exists('made')).toBe(false);
  });
});

describe('E5: if the socket is not hidden from commands', () => {
  beforeAll(() => open({ env: { ALLOWED_COMMANDS: '*', NACRE_PROCESSES: 'host' } }));
  afterAll(close);

  it('nothing can be approved, and the reply says why', async () => {
    const reply = await call({ command: 'touch made' });
    expect(reply.structured).toMatchObject({
      code: 'approval_required',
      error: expect.stringMatching(
        /Approval from another terminal is off, because a command could approve itself/,
      ),
    });
    await expect.poll(() => server.stderr(), { timeout: 10_000 }).toContain('ready:');
    expect((await nacre('approvals')).stdout).toMatch(
      /^Nothing is waiting.*\nApproval from another terminal is off.*group/,
    );
    expect((await nacre('approvals', 'approve', 'apr_1')).stderr).toContain('is off');
  });
});

describe('E5: if root could make it visible again', () => {
  beforeEach(needRoot);

  beforeAll(() => open({ env: { ALLOWED_COMMANDS: '*' } }));
  afterAll(close);

  it('nothing can be approved', async () => {
    expect((await call({ command: 'touch made' })).text).toContain('as root a command can undo');
  });
});
