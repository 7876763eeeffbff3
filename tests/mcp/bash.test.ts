import { existsSync, mkdirSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { eras, type ServerOptions } from '../support/mcp.ts';
import { sleep } from '../support/nacre.ts';
import { processesWith } from '../support/processes.ts';
import { replaceFiles } from '../support/replace-files.ts';
import { freshFolder, shareServers, uniqueSeconds } from './shared-servers.ts';

const serve = shareServers();
const background: ServerOptions = { args: ['--tools', 'bash', '--on-timeout', 'background'] };
let lastSession = 0;

/** Opens a new session on a shared server, in a new folder. */
async function openSession(options: ServerOptions = {}) {
  const server = await serve({ args: ['--tools', 'bash'], ...options });
  lastSession += 1;
  const session = `session-${lastSession}`;
  const cwd = freshFolder(server);
  const bash = (command: string, more: Record<string, unknown> = {}, call = {}) =>
    server.use('Bash', { command, session, ...more }, call);
  await bash(`cd ${cwd}`);
  return { ...server, bash, session, cwd };
}

describe.concurrent.each(eras)('the Bash tools over MCP %s', (era) => {
  test('B3, B5, B11, B12, B14: run one persistent shell, and background shells next to it', async ({
    expect,
  }) => {
    const { bash, use, cwd, client, session } = await openSession({ era });
    const seconds = uniqueSeconds();
    const { tools } = await client.listTools();
    expect(tools.map(({ name }) => name)).toEqual(['Bash', 'BashOutput', 'KillShell', 'ListShells']);
    await bash('mkdir "a b"; cd "a b"; x=1; f() { echo "f $x"; }');
    const second = await bash('pwd; f; echo warn >&2');
    expect(second.text).toBe(`${cwd}/a b\nf 1\n[stderr]\nwarn\n`);
    expect(second.structured).toMatchObject({ exit_code: 0, cwd: `${cwd}/a b`, stderr: 'warn\n' });

    const started = await bash(`f; pwd; sleep ${seconds}`, { run_in_background: true });
    const id = started.structured.bash_id as string;
    expect(id).toMatch(/^shell_/);
    await expect
      .poll(async () => (await use('BashOutput', { bash_id: id })).text, { timeout: 10_000 })
      .toContain(`f 1\n${cwd}/a b`);
    expect((await use('ListShells', {})).structured).toMatchObject({
      shells: expect.arrayContaining([expect.objectContaining({ bash_id: id, is_running: true })]),
      sessions: expect.arrayContaining([expect.objectContaining({ session, status: 'ready' })]),
    });
    const killed = await use('KillShell', { shell_id: id });
    expect(killed.structured).toMatchObject({ status: 'killed', command: `f; pwd; sleep ${seconds}` });
    expect(processesWith(`sleep\u0000${seconds}`)).toEqual([]);
  });
});

test.concurrent('B4: a command that ends the shell is reported, and the next call lists what was restored', async () => {
  const { bash } = await openSession();
  await bash('export A=1; cd /');
  const ended = await bash('exit 7');
  expect(ended.isError).toBe(true);
  expect(ended.text).toMatch(/ended its shell.*\nCommand failed with exit code 7$/s);
  const next = await bash('echo $A; pwd');
  expect(next.text).toMatch(/^1\n\/\n\[The session's shell had ended\. .*not restored: traps/s);
  expect((await bash('echo still')).text).toBe('still\n');
});

test.concurrent('B4: set -n, a deleted directory and replaced output files are reported with what happens next', async () => {
  const server = await serve({
    args: ['--tools', 'bash'],
    env: { NACRE_OUTLIVE: 'off', OWN_SERVER: 'replaced files' },
  });
  const { cwd } = server;
  const bash = (command: string) => server.use('Bash', { command });
  await bash('x=kept; mkdir sub; cd sub');
  expect((await bash('set -n; echo never')).text).toMatch(/^\[The command ended its shell, as .* set -n do/);
  await bash(`rmdir ${cwd}/sub`);
  expect((await bash('echo $x; pwd')).text).toBe(
    `kept\n${cwd}\n[The session's directory ${cwd}/sub is gone or inaccessible; the command started in ${cwd}.]`,
  );
  const run = join(cwd, '.local/state/nacre/run');
  for (const folder of readdirSync(run)) replaceFiles(join(run, folder, 'shells/0/pipes'));
  const lost = await bash('touch never');
  expect(lost.text).toMatch(/^\[The command was not run: .*call again\.\]\n.* code 126$/);
  expect((await bash('echo $x; ls')).text).toMatch(/^kept\n\[The session's shell had ended/);
});

test.concurrent('B6: long output is truncated to 30000 characters, and BashOutput returns all of it in pieces', async () => {
  const { bash, use } = await openSession();
  const { text, structured } = await bash('for i in {1..9000}; do echo "line $i"; done');
  expect(structured.truncated).toBe(true);
  const notice = /\n?\[Output truncated: .*BashOutput \(bash_id (\w+)\).*\]\n/.exec(text);
  expect(text.length - (notice?.[0].length ?? 0)).toBeGreaterThan(29_950);
  expect(structured.left_out).toEqual({ lines: expect.any(Number), chars: expect.any(Number) });
  for (const line of text.split('\n').slice(0, -1)) expect(line).toMatch(/^line \d+$|^\[Output truncated/);
  let all = '';
  for (let piece = 'x'; piece !== ''; all += piece) {
    const read = await use('BashOutput', { bash_id: notice?.[1] });
    piece = read.structured.stdout as string;
    expect(piece.length).toBeLessThanOrEqual(30_000);
  }
  expect(all).toBe(Array.from({ length: 9_000 }, (_, index) => `line ${index + 1}\n`).join(''));
});

test.concurrent('B7: a cancelled call interrupts its command with SIGINT, and the session survives', async ({
  expect,
}) => {
  const { bash, cwd } = await openSession();
  await bash('x=kept; sleep 98765.4 &');
  const controller = new AbortController();
  const command = `bash -c 'trap "echo interrupted > was; exit 130" INT; touch up; while :; do sleep 0.1; done'; touch never`;
  const call = bash(command, {}, { signal: controller.signal }).catch(() => 'cancelled');
  await expect.poll(() => existsSync(join(cwd, 'up')), { timeout: 10_000 }).toBe(true);
  controller.abort();
  expect(await call).toBe('cancelled');
  await expect.poll(() => existsSync(join(cwd, 'was')), { timeout: 10_000 }).toBe(true);
  expect(readFileSync(join(cwd, 'was'), 'utf8')).toBe('interrupted\n');
  expect(
    (await bash('echo $x; ls never 2>/dev/null; pgrep -f "sleep 98765.4" > /dev/null && echo alive')).text,
  ).toContain('kept\nalive\n');
});

test.concurrent('calls to one session run in turn, calls to other sessions do not wait', async () => {
  const { bash, session } = await openSession();
  const other = `${session}-other`;
  await bash(':', { session: other });
  const finished: string[] = [];
  const note = (name: string) => (reply: { text: string }) => finished.push(`${name}:${reply.text.trim()}`);
  const slow = bash('sleep 2; echo one').then(note('slow'));
  await sleep(100);
  const queued = bash('echo two');
  await Promise.all([
    slow,
    queued.then(note('queued')),
    bash('echo three', { session: other }).then(note('other')),
  ]);
  expect(finished).toEqual(['other:three', 'slow:one', 'queued:two']);
  expect((await queued).structured.queued_ms).toBeGreaterThan(300);
});

test.concurrent('a queued call that is cancelled leaves the queue and runs nothing', async () => {
  const { bash, cwd } = await openSession();
  const slow = bash('sleep 1; echo done');
  await sleep(200);
  const controller = new AbortController();
  const queued = bash('touch never', {}, { signal: controller.signal }).catch(() => 'cancelled');
  await sleep(100);
  controller.abort();
  expect(await queued).toBe('cancelled');
  expect((await slow).text).toBe('done\n');
  expect((await bash('ls')).text).not.toContain('never');
  expect(existsSync(join(cwd, 'never'))).toBe(false);
});

describe.concurrent('with on_timeout background', () => {
  test('a timed-out command keeps running, and the session is free', async ({ expect }) => {
    const { bash, use } = await openSession(background);
    await bash('x=1');
    const { structured, isError } = await bash('echo first; sleep 2; echo last $x', { timeout: 1_000 });
    expect(isError).toBe(false);
    expect(structured).toMatchObject({ timed_out: true, status: 'running', stdout: 'first\n' });
    expect((await bash('echo $x')).text).toMatch(/^1\n\[The session's shell moved to the background/);
    let read = '';
    await expect
      .poll(
        async () => {
          const { structured: found } = await use('BashOutput', { bash_id: structured.bash_id });
          read += found.stdout;
          return found.status;
        },
        { timeout: 15_000 },
      )
      .toBe('completed');
    expect(read).toBe('last 1\n');
  });

  test('earlier background processes of the session live until it is closed', async ({ expect }) => {
    const { bash, use, session } = await openSession(background);
    const seconds = uniqueSeconds();
    const sleepers = () => processesWith(`sleep\u0000${seconds}`);
    await bash(`sleep ${seconds} &`);
    const { structured } = await bash('sleep 1.5', { timeout: 1_000 });
    await expect
      .poll(async () => (await use('BashOutput', { bash_id: structured.bash_id })).structured.status, {
        timeout: 15_000,
      })
      .toBe('completed');
    await sleep(500);
    expect(sleepers()).toHaveLength(1);
    await use('KillShell', { shell_id: session });
    expect(sleepers()).toEqual([]);
  });

  test('B8, B19: a command that ends in time gets the same notes as without', async () => {
    const { bash, cwd } = await openSession({ ...background, env: { ALLOWED_CWD_ROOTS: '.' } });
    mkdirSync(join(cwd, 'my dir'));
    const [, second] = await Promise.all([bash('sleep 0.5'), bash('ls my dir; cd /')]);
    expect(second.structured.rewritten_command).toBe("ls 'my dir'; cd /");
    expect(second.structured.queued_ms).toBeGreaterThan(100);
    expect(second.text).toContain('[The shell is now in /, outside of ALLOWED_CWD_ROOTS');
    expect((await bash('pwd')).text).toContain('[The shell was in /, which ALLOWED_CWD_ROOTS does not allow');
  });
});

test.concurrent('B10, B9: a dangerous command is blocked, and the error says so', async () => {
  const { bash } = await openSession();
  const { text, isError } = await bash('rm -rf /');
  expect(isError).toBe(true);
  expect(text).toMatch(/blocked.*dangerous/);
});

test.concurrent('B19: ALLOWED_CWD_ROOTS restricts the session’s directory', async () => {
  const { bash, cwd } = await openSession({ ...background, env: { ALLOWED_CWD_ROOTS: '.' } });
  mkdirSync(join(cwd, 'in'));
  await bash('cd in');
  const left = await bash('cd /; pwd');
  expect(left.text).toMatch(
    /^\/\n\[The shell is now in \/, outside of ALLOWED_CWD_ROOTS; the next command starts in .*\/in\.\]$/,
  );
  expect((await bash('pwd')).text).toMatch(new RegExp(`^${cwd}/in\n`));
});

test.concurrent('P13: aliases, functions and variables of an earlier call do not get past the list', async () => {
  const { bash, cwd } = await openSession({ env: { ALLOWED_COMMANDS: 'echo,alias,ls' } });
  expect((await bash('alias ls="touch smuggled"')).isError || (await bash('ls')).isError).toBe(true);
  expect((await bash('echo() { touch smuggled; }')).isError).toBe(true);
  await bash('p=touch');
  expect((await bash('$p smuggled')).isError).toBe(true);
  expect((await bash('PATH=$PWD:$PATH')).isError).toBe(true);
  expect(existsSync(join(cwd, 'smuggled'))).toBe(false);
  expect((await bash('echo fine')).text).toContain('fine\n');
});

test.concurrent('E6: invalid input is named, and nothing runs', async () => {
  const { bash, use } = await openSession();
  expect((await bash('echo "unterminated')).text).toMatch(/blocked/);
  expect((await bash('touch x', { timeout: 5 })).text).toMatch(/timeout must be at least 1000/);
  expect((await bash('touch x', { session: '../x' })).text).toMatch(/session must be 1 to 64 letters/);
  expect((await use('BashOutput', { bash_id: 'shell_none' })).text).toMatch(/^Shell not found: shell_none/);
  expect((await use('KillShell', { shell_id: 'shell_none' })).text).toMatch(/^Shell not found: shell_none/);
  expect((await bash('ls')).text).toBe('(no output)');
});

test('B18: a command starts within 50 ms, and new output reaches a reader within 100 ms', async () => {
  const { bash, use } = await openSession();
  const times: number[] = [];
  for (let round = 0; round < 15; round += 1) times.push(await timed(() => bash(':')));
  // `Math.min`, because other processes may slow down the machine.
  expect(Math.min(...times)).toBeLessThan(50);
  const { structured } = await bash(
    'while read -r _; do date +%s%N; done < <(while sleep 0.3; do echo; done)',
    {
      run_in_background: true,
    },
  );
  const delays: number[] = [];
  while (delays.length < 5) {
    const { structured: read } = await use('BashOutput', { bash_id: structured.bash_id });
    const last = String(read.stdout).trim().split('\n').at(-1);
    if (last) delays.push(Date.now() - Number(last) / 1e6);
    await sleep(10);
  }
  expect(Math.min(...delays)).toBeLessThan(100);
  await use('KillShell', { shell_id: structured.bash_id });
});

async function timed(step: () => Promise<unknown>): Promise<number> {
  const start = performance.now();
  await step();
  return performance.now() - start;
}
