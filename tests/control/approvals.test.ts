import { constants, copyFileSync, cpSync, existsSync, mkdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import { connect, eras } from '../support/mcp.ts';
import { runInProcess } from '../support/nacre.ts';

const userFile = `policy:
  - verdict: ask
    program: touch
    reason: Files are made with care.
    examples: { matches: ["touch x"], spares: ["ls x"] }
`;

type Server = Awaited<ReturnType<typeof connect>>;
let server: Server;
// Where root runs the tests, only a sandbox keeps commands from the socket.
const hidden = { ALLOWED_COMMANDS: '*', NACRE_SANDBOX: 'workspace' };
const open = async (more: Parameters<typeof connect>[0] = {}) => {
  server = await connect({ env: hidden, userFile, ...more });
  mkdirSync(project());
};
afterEach(async () => {
  expect(await server.close()).toEqual([]);
  rmSync(server.cwd, { recursive: true, force: true });
});

// A home as a whole is no workspace.
const project = () => join(server.cwd, 'project');
const nacre = (...words: string[]) => runInProcess(words, server);
const made = () => existsSync(join(project(), 'made'));
const call = (input: object) => server.call({ cwd: 'project', ...input });
const ask = async (command = 'touch made') => {
  const reply = await call({ command });
  expect(reply).toMatchObject({ isError: true, structured: { code: 'approval_required', exit_code: null } });
  return /apr_\w+/.exec(reply.text)?.[0] ?? '';
};
const records = async () =>
  (await nacre('audit', 'export')).stdout
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line) as Record<string, unknown>);

describe.each(eras)('T9, P11: where the client cannot ask, over %s', (era) => {
  it('the request waits until somebody approves it at another terminal, who is recorded', async () => {
    await open({ era });
    const id = await ask();
    expect((await nacre('approvals')).stdout).toMatch(
      new RegExp(
        `^${id}  \\d+ s left  tester over mcp\\n  why +\\| touch needs approval: Files.*\\n  in +\\| ${project()}\\n  runs +\\| touch made\\n$`,
      ),
    );
    const again = call({ command: 'touch made' });
    expect(made()).toBe(false);
    expect((await nacre('approvals', 'approve', id)).stdout).toContain(`${id} approved`);
    expect((await again).structured).toMatchObject({ exit_code: 0 });
    expect(made()).toBe(true);
    const approved = (await records()).filter(({ kind }) => kind === 'approved');
    const by = expect.stringMatching(/^\S+, from another terminal$/);
    expect(approved).toMatchObject([
      { door: 'cli', client: 'terminal', by },
      { door: 'mcp', client: 'tester', by },
    ]);
    expect(await ask()).not.toBe(id);
  });
});

describe('T9: a request for approval', () => {
  it('that is denied stays denied, and that is recorded', async () => {
    await open();
    const id = await ask();
    expect((await nacre('approvals', 'deny', id)).stdout).toBe(`${id} denied.\n`);
    const reply = await call({ command: 'touch made' });
    expect(reply).toMatchObject({ isError: true, structured: { code: 'policy_denied' } });
    expect(reply.text).toContain('declined');
    expect(made()).toBe(false);
    expect((await records()).filter(({ kind }) => kind === 'declined')).toHaveLength(1);
    expect(await nacre('approvals', 'approve', id)).toMatchObject({
      code: 125,
      stderr: expect.stringContaining(`Nothing waits as ${id}`),
    });
  });

  it('is over after its deadline', async () => {
    await open({ env: { ...hidden, NACRE_APPROVAL_SECONDS: '1' } });
    const id = await ask();
    await expect.poll(async () => (await nacre('approvals')).stdout, { timeout: 10_000 }).toMatch(/^Nothing/);
    expect((await nacre('approvals', 'approve', id)).code).toBe(125);
    expect(made()).toBe(false);
  });

  it('shows all that matters, and nothing of it can look like something else', async () => {
    await open();
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

  it('is also made by what is typed into a shell', async () => {
    await open();
    await server.use('start_command', { command: 'bash', cwd: 'project', name: 'shell', wait_ms: 0 });
    const type = () =>
      server.use('write_input', {
        command_id: 'shell',
        text: 'touch made; echo done\n',
        wait_for: 'done',
        wait_ms: 5_000,
      });
    const id = /apr_\w+/.exec((await type()).text)?.[0] ?? '';
    expect((await nacre('approvals')).stdout).toMatch(/into +\| cmd_/);
    await nacre('approvals', 'approve', id);
    expect((await type()).structured).toMatchObject({ stdout: 'done\n' });
    expect(made()).toBe(true);
  });
});

describe('E5: a model cannot approve itself', () => {
  it('where the socket is hidden from commands', async () => {
    await open();
    const id = await ask();
    cpSync('dist', join(project(), 'dist'), { recursive: true });
    // The sandbox may hide the folder that this one is in.
    copyFileSync(process.execPath, join(project(), 'node'), constants.COPYFILE_FICLONE);
    const own = `./node dist/cli.js approvals approve ${id}`;
    expect((await call({ command: own })).structured).toMatchObject({
      exit_code: 125,
      stderr: expect.stringContaining('Nothing waits'),
    });
    expect((await nacre('approvals')).stdout).toContain(id);
  });

  it('where it is not hidden, because nothing can be approved there at all, which is said', async () => {
    await open({ env: { ALLOWED_COMMANDS: '*', NACRE_PROCESSES: 'host' } });
    const reply = await call({ command: 'touch made' });
    expect(reply.structured).toMatchObject({
      code: 'approval_required',
      error: expect.stringMatching(
        /Approval from another terminal is off, because a command could approve itself/,
      ),
    });
    await expect.poll(() => server.stderr(), { timeout: 10_000 }).toContain('ready:');
    expect((await nacre('approvals')).stdout).toMatch(
      /^Nothing waits.*\nApproval from another terminal is off.*group/,
    );
    expect((await nacre('approvals', 'approve', 'apr_1')).stderr).toContain('is off');
  });

  it.runIf(process.getuid?.() === 0)('where root could show it again', async () => {
    await open({ env: { ALLOWED_COMMANDS: '*' } });
    expect((await call({ command: 'touch made' })).text).toContain('as root a command can undo');
  });
});

it('T9: nacre approvals says what it takes', async () => {
  await open();
  for (const words of [['approve'], ['deny', 'a', 'b'], ['other', 'a']])
    expect(await nacre('approvals', ...words)).toMatchObject({
      code: 125,
      stderr: expect.stringContaining('approve ID or deny ID'),
    });
});
