// Commands on other machines, at the doors that users and agents have. A stand-in for ssh runs everything on this machine.
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { builtCli } from '../support/build.ts';
import { serve } from '../support/http.ts';
import { createStandIns } from '../support/machines.ts';
import { connect } from '../support/mcp.ts';
import { createPlace, runInProcess, surroundingsOf } from '../support/nacre.ts';
import { needLevel, needPrograms } from '../support/needs.ts';

const slow = { timeout: 120_000 };

const usualFile = `allowed_commands: [echo, ls, pwd]
machines:
  h1: { ssh: h1, description: has GPUs, allow: [echo, cat, sleep, pwd, seq] }
  h2: { ssh: h2 }
`;

const begin = async (userFile = usualFile, env: Readonly<Record<string, string>> = {}) => {
  const machines = createStandIns(['h1', 'h2']);
  const server = await connect({ env: { PATH: machines.path, ...env }, userFile });
  onTestFinished(async () => {
    expect(await server.close()).toEqual([]);
  });
  return { machines, server };
};

const readAudit = (cwd: string) => {
  const folder = join(cwd, '.local/state/nacre/audit');
  const files = readdirSync(folder).filter((name) => /^\d/.test(name));
  return files.flatMap((name) =>
    readFileSync(join(folder, name), 'utf8')
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line) as Record<string, unknown>),
  );
};

test('execute_command runs on the machine that on names', slow, async () => {
  const { machines, server } = await begin();
  const there = await server.call({ command: 'echo $HOME; pwd', on: 'h1' });
  expect(there.structured).toMatchObject({ exit_code: 0, stdout: `${machines.home('h1')}\n`.repeat(2) });
  const other = await server.call({ command: 'echo $HOME', on: 'h2' });
  expect(other.structured).toMatchObject({ stdout: `${machines.home('h2')}\n` });
  expect((await server.call({ command: 'pwd' })).structured).toMatchObject({ stdout: `${server.cwd}\n` });
});

test(
  'commands get the environment of their machine without its secrets, and no variable of the server',
  slow,
  async () => {
    const machines = createStandIns(['h1'], { COLOR: 'pearl', SERVICE_TOKEN: 'far-value-1' });
    const env = { PATH: machines.path, NEAR_COLOR: 'red' };
    const server = await connect({ env, userFile: 'machines: { h1: { ssh: h1, allow: [echo] } }\n' });
    onTestFinished(async () => {
      expect(await server.close()).toEqual([]);
    });
    const { structured } = await server.call({
      command: 'echo "$COLOR [$SERVICE_TOKEN$NEAR_COLOR]"',
      on: 'h1',
    });
    expect(structured).toMatchObject({ stdout: 'pearl []\n' });
  },
);

test('each machine has its own list, and a refusal names it', slow, async () => {
  const { machines, server } = await begin();
  writeFileSync(join(machines.home('h1'), 'note'), 'far');
  expect((await server.call({ command: 'cat note', on: 'h1' })).structured).toMatchObject({ stdout: 'far' });
  const refused = await server.call({ command: 'ls', on: 'h1' });
  expect(refused.text).toContain('ls is not allowed, because it is not in machines.h1.allow');
  expect((await server.call({ command: 'cat note', on: 'h2' })).text).toContain('not in ALLOWED_COMMANDS');
});

test('the policy judges a command by the paths of its machine', slow, async () => {
  const { machines, server } = await begin(
    usualFile.replace('allow: [echo', 'cwd_roots: [~/jobs], allow: [echo'),
  );
  mkdirSync(join(machines.home('h1'), 'jobs'));
  const inside = await server.call({ command: 'pwd', cwd: '~/jobs', on: 'h1' });
  expect(inside.structured).toMatchObject({ stdout: `${machines.home('h1')}/jobs\n` });
  const outside = await server.call({ command: 'pwd', cwd: server.cwd, on: 'h1' });
  expect(outside.text).toContain('ALLOWED_CWD_ROOTS');
});

test('tools that run commands offer the machines, and list them when the name is wrong', slow, async () => {
  const { server } = await begin(`${usualFile}tools: all\n`);
  const { tools } = await server.client.listTools();
  const offering = tools.filter(({ inputSchema }) => 'on' in (inputSchema.properties ?? {}));
  expect(offering.map(({ name }) => name).toSorted()).toEqual([
    'Bash',
    'check_command',
    'execute_command',
    'shell_execute',
    'start_command',
  ]);
  expect(offering[0]?.inputSchema.properties?.on).toEqual({
    type: 'string',
    enum: ['local', 'h1', 'h2'],
    description:
      'The machine to run on; local by default\nlocal: this machine\nh1: has GPUs\nh2: a machine reached over ssh',
  });
  const wrong = await server.call({ command: 'echo', on: 'h9' });
  expect(wrong.text).toContain('Use local or h1 or h2.');
});

test('the user is asked with the name of the machine', slow, async () => {
  const machines = createStandIns(['h1', 'h2']);
  const questions: string[] = [];
  const server = await connect({
    env: { PATH: machines.path },
    userFile: 'confirm: unlisted\nmachines: { h1: { ssh: h1, allow: [touch] } }\n',
    answer(message) {
      questions.push(message);
      return { action: 'accept', content: {} };
    },
  });
  onTestFinished(async () => {
    expect(await server.close()).toEqual([]);
  });
  const { structured } = await server.call({ command: 'touch made', on: 'h1' });
  expect(structured).toMatchObject({ exit_code: 0 });
  expect(existsSync(join(machines.home('h1'), 'made'))).toBe(true);
  expect(questions).toEqual([expect.stringContaining(`touch made\non h1, in ${machines.home('h1')}\nwhy: `)]);
});

test('the audit log names the machine and its worker', slow, async () => {
  const { server } = await begin();
  await server.call({ command: 'echo hi', on: 'h1' });
  const records = readAudit(server.cwd).filter(({ machine }) => machine !== undefined);
  expect(records.map(({ kind, machine }) => [kind, machine])).toEqual([
    ['asked', 'h1'],
    ['decided', 'h1'],
    ['started', 'h1'],
  ]);
  expect(records[2]?.worker).toMatch(/^worker-/);
});

test(
  'S6: secrets of a machine are masked in output and records of its commands, and its worker does not send them',
  slow,
  async () => {
    const variables = { SERVICE_TOKEN: 'far-value-1', DEPLOY_NOTE: 'far value 2', PLAIN: 'plain-value' };
    const machines = createStandIns(['h1', 'h2'], variables);
    const userFile = `${usualFile}env_withhold: [DEPLOY_NOTE]\nredact_output: true\n`;
    const server = await connect({ env: { PATH: machines.path }, userFile });
    onTestFinished(async () => {
      expect(await server.close()).toEqual([]);
    });
    // The first record is of a command for a machine that has not answered before.
    const printed = await server.call({ command: 'echo far-value-1 far value 2 $PLAIN', on: 'h1' });
    expect(printed.structured).toMatchObject({ stdout: '*********** *********** plain-value\n' });
    const { structured } = await server.use('start_command', { command: 'cat', on: 'h1', wait_ms: 0 });
    await server.use('write_input', { command_id: structured.command_id, text: 'x far-value-1\n' });
    const stopped = await server.use('stop_command', { command_id: structured.command_id });
    expect(JSON.stringify(stopped)).not.toContain('far-value-1');
    const records = readAudit(server.cwd);
    expect(JSON.stringify(records)).not.toMatch(/far.value/);
    expect(records).toContainEqual(
      expect.objectContaining({ kind: 'asked', command: 'echo [redacted] [redacted] $PLAIN' }),
    );
    expect(records).toContainEqual(expect.objectContaining({ kind: 'input', text: 'x [redacted]\n' }));
    // A hostile machine can claim any text as its secret, which must not affect other commands.
    const local = await server.call({ command: 'echo far-value-1' });
    expect(local.structured).toMatchObject({ stdout: 'far-value-1\n' });
    expect(readAudit(server.cwd)).toContainEqual(
      expect.objectContaining({ kind: 'asked', command: 'echo far-value-1' }),
    );
  },
);

test('default_machine runs every command there, and agents do not see it', slow, async () => {
  const file = 'machines: { h1: { ssh: h1 } }\ndefault_machine: h1\nallowed_commands: [echo, ls]\n';
  const { machines, server } = await begin(file);
  const { tools } = await server.client.listTools();
  expect(tools.filter(({ inputSchema }) => 'on' in (inputSchema.properties ?? {}))).toEqual([]);
  const there = await server.call({ command: 'echo $HOME' });
  expect(there.structured).toMatchObject({ stdout: `${machines.home('h1')}\n` });
  const local = await server.call({ command: 'echo', on: 'local' });
  expect(local.structured).toMatchObject({ code: 'invalid_request' });
});

test('an unreachable machine is an error that names it, and others are not affected', slow, async () => {
  const { machines, server } = await begin();
  machines.cut('h1');
  const off = await server.call({ command: 'echo', on: 'h1' });
  expect(off.text).toContain('The machine h1 cannot be used: nothing listens on its ssh port.');
  expect((await server.call({ command: 'echo 2', on: 'h2' })).structured).toMatchObject({ stdout: '2\n' });
  machines.heal('h1');
  expect((await server.call({ command: 'echo 1', on: 'h1' })).structured).toMatchObject({ stdout: '1\n' });
});

test('background commands and persistent shells stay on their machine', slow, async () => {
  const { machines, server } = await begin(`${usualFile}tools: all\n`);
  const { structured } = await server.use('start_command', { command: 'cat', on: 'h1', wait_ms: 0 });
  const id = structured.command_id;
  const typed = await server.use('write_input', { command_id: id, text: 'hello\n', wait_for: 'hello' });
  expect(typed.structured).toMatchObject({ stdout: 'hello\n' });
  expect(machines.processes('h1')).not.toEqual([]);
  await server.use('stop_command', { command_id: id });
  await server.use('Bash', { command: 'x=far; cd /', on: 'h1' });
  await server.use('Bash', { command: 'x=near' });
  expect((await server.use('Bash', { command: 'echo $x $PWD', on: 'h1' })).text).toContain('far /');
  expect((await server.use('Bash', { command: 'echo $x $PWD' })).text).toContain(`near ${server.cwd}`);
  expect((await server.use('ListShells', {})).text).toContain('main@h1');
  await server.use('KillShell', { shell_id: 'main@h1' });
  expect((await server.use('Bash', { command: 'echo "[$x]"', on: 'h1' })).text).toContain('[]');
});

test('nacre run --on and nacre check --on', slow, async () => {
  const { machines, place } = createUser(usualFile);
  const run = await runInProcess(['run', '--on', 'h1', 'echo $HOME; cat >&2'], place);
  expect(run).toMatchObject({ code: 0, stdout: `${machines.home('h1')}\n` });
  const check = await runInProcess(['check', '--on', 'h1', 'ls'], place);
  expect(check).toMatchObject({ stdout: expect.stringContaining('machines.h1.allow') });
  const wrong = await runInProcess(['run', '--on', 'h9', 'echo'], place);
  expect(wrong.stderr).toContain('Use local or h1 or h2.');
  await expect.poll(() => machines.processes('h1'), { timeout: 10_000 }).toEqual([]);
});

const createUser = (userFile: string) => {
  const machines = createStandIns(['h1', 'h2']);
  const place = createPlace({ PATH: machines.path });
  mkdirSync(join(place.cwd, '.config/nacre'), { recursive: true });
  writeFileSync(join(place.cwd, '.config/nacre/config.yaml'), userFile);
  return { machines, place };
};

test('a workflow runs its steps on the machines that they name', slow, async () => {
  const { machines, place } = createUser(usualFile);
  const steps = 'on: h2\nsteps: [{ command: "echo $HOME" }, { command: "echo $HOME", on: h1 }]\n';
  const file = join(place.cwd, 'flow.yaml');
  writeFileSync(file, steps);
  const { stdout, stderr, code } = await runInProcess(['workflow', file, '--json'], place);
  expect(code, stdout + stderr).toBe(0);
  expect(stdout).toContain(machines.home('h2'));
  expect(stdout).toContain(machines.home('h1'));
});

test('nacre machines shows which machines can be reached, and check explains one', slow, async () => {
  const { machines, place } = createUser(usualFile);
  machines.cut('h2');
  const all = await runInProcess(['machines', '--json'], place);
  // The list itself has not failed.
  expect(all.code).toBe(0);
  expect(JSON.parse(all.stdout)).toMatchObject([
    { name: 'h1', road: 'ssh', reachable: true, jobs: 0, home: machines.home('h1') },
    { name: 'h2', reachable: false, hint: expect.stringContaining('Start sshd there') },
  ]);
  const one = await runInProcess(['machines', 'check', 'h1'], place);
  expect(one).toMatchObject({ code: 0, stdout: expect.stringContaining('h1 is reachable.') });
  const cut = await runInProcess(['machines', 'check', 'h2'], place);
  expect(cut).toMatchObject({ code: 1, stdout: expect.stringContaining('h2 (ssh) cannot be used.') });
  const other = await runInProcess(['machines', 'check', 'h7'], place);
  expect(other.stderr).toContain('Use h1 or h2.');
});

test('HTTP callers choose a machine with on, and a named token only those that list it', slow, async () => {
  const machines = createStandIns(['h1', 'h2']);
  const secret = 'a'.repeat(32);
  const sha256 = createHash('sha256').update(secret).digest('hex');
  const server = await serve({
    env: { PATH: machines.path, SHELL_ALLOWLIST: 'echo,pwd' },
    userFile: `${usualFile}  h3: { ssh: h2, tokens: [other] }\ntokens: [{ name: web, sha256: ${sha256} }]\n`,
  });
  onTestFinished(async () => {
    expect(await server.close()).toEqual([]);
  });
  const there = await server.shell('pwd', [], { on: 'h1' });
  expect(there.body).toMatchObject({ stdout: `${machines.home('h1')}\n`, code: 0 });
  expect((await server.shell('pwd', [], { on: 'h3' })).body).toMatchObject({ code: 0 });
  const token = { Authorization: `Bearer ${secret}` };
  const refused = await server.post('/api/shell', { command: 'pwd', on: 'h3' }, token);
  expect(JSON.stringify(refused.body)).toContain('Use local or h1 or h2.');
});

const heldFile = `allowed_commands: [echo, sleep, python3]
changes: hold
machines: { h1: { ssh: h1, sandbox: workspace }, h2: { ssh: h2, sandbox: workspace } }
`;

test(
  'changes held on a machine are listed by other processes, also while it is off, and applied there',
  slow,
  async (context) => {
    await needLevel(context, 'namespace');
    const { machines, server } = await begin(heldFile);
    const work = join(machines.home('h1'), 'work');
    mkdirSync(work);
    const held = await server.call({ command: 'echo hi > new', cwd: '~/work', on: 'h1' });
    const { id } = held.structured.changes as { readonly id: string };
    machines.cut('h1');
    expect((await runInProcess(['changes'], server)).stdout).toMatch(
      new RegExp(`${id}  held .* echo hi > new`),
    );
    machines.heal('h1');
    expect((await runInProcess(['changes', id], server)).stdout).toContain('+hi');
    expect(existsSync(join(work, 'new'))).toBe(false);
    expect((await runInProcess(['apply', id], server)).stdout).toContain('now applied');
    expect(readFileSync(join(work, 'new'), 'utf8')).toBe('hi\n');
    expect((await runInProcess(['changes'], server)).stdout).toMatch(new RegExp(`${id}  applied`));
    expect((await runInProcess(['undo', id], server)).stdout).toContain('now held');
    expect(existsSync(join(work, 'new'))).toBe(false);
    expect((await runInProcess(['discard', id], server)).stdout).toContain('now gone');
    expect((await runInProcess(['changes'], server)).stdout).toBe('no changes are kept\n');
  },
);

test('nacre port refuses the port of another machine, and names the machine', slow, async (context) => {
  await needLevel(context, 'namespace');
  needPrograms(context, 'python3');
  const { machines, server } = await begin(heldFile);
  mkdirSync(join(machines.home('h1'), 'work'));
  const listen = 'python3 -m http.server 8123 --bind 127.0.0.1';
  await server.use('start_command', { command: listen, cwd: '~/work', on: 'h1', wait_ms: 0 });
  const refusal = async () => (await runInProcess(['port', '8123'], server)).stderr;
  // Until it listens, no command is found.
  await expect
    .poll(refusal, { timeout: 20_000 })
    .toMatch(/The command cmd_\w+ listens on port 8123 of the machine h1/);
  expect(await refusal()).toContain('ssh -L 8123:127.0.0.1:8123');
});

test('nacre ps names the machine of each command', slow, async () => {
  const { server } = await begin();
  await server.use('start_command', { command: 'sleep 600', on: 'h1', name: 'far', wait_ms: 0 });
  await server.use('start_command', { command: 'pwd; sleep 600', name: 'near', wait_ms: 0 });
  const { stdout } = await runInProcess(['ps'], server);
  expect(stdout).toMatch(/MACHINE/);
  expect(stdout).toMatch(/far +h1 +running/);
});

test('a program chooses a machine with on', slow, async () => {
  const { machines, place } = createUser('');
  const { createNacre } = (await import(
    `${dirname(builtCli)}/index.js`
  )) as typeof import('../../src/index.ts');
  const nacre = await createNacre(
    { machines: { h1: { ssh: 'h1' } }, loginEnv: 'never' },
    surroundingsOf(place),
  );
  onTestFinished(() => nacre.close());
  const { stdout } = await nacre.run('echo $HOME', { on: 'h1' });
  expect(stdout).toBe(`${machines.home('h1')}\n`);
  await expect(nacre.run('echo', { on: 'h9' })).rejects.toMatchObject({ hint: 'Use local or h1.' });
});
