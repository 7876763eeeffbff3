import { existsSync, mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { knownClients } from '../../src/clients/known-clients.ts';
import { connect, eras, type ServerOptions } from '../support/mcp.ts';
import { processesWith } from '../support/processes.ts';
import { freshFolder, shareServers, uniqueSeconds } from './shared-servers.ts';

const share = shareServers();

function serve(allowed: string | undefined, options: ServerOptions = {}) {
  const list = allowed === undefined ? {} : { ALLOWED_COMMANDS: allowed };
  const env = { NACRE_KILL_GRACE_MS: '200', ...list, ...options.env };
  return share({ ...options, env });
}

describe.concurrent.each(eras)('execute_command over MCP %s', (era) => {
  it('T1: writes the input to stdin, closes it, and returns the output', async () => {
    const server = await serve(' ls , cat , echo ', { era });
    const { structured, isError } = await server.call({ command: 'cat', input: 'hello world' });
    expect(structured).toEqual({ exit_code: 0, stdout: 'hello world', stderr: '' });
    expect(isError).toBe(false);
    // Without `input`, stdin is at EOF from the start.
    const without = await server.call({ command: 'cat; echo no input' });
    expect(without.structured).toEqual({ exit_code: 0, stdout: 'no input\n', stderr: '' });
  });

  it('T5: runs a listed command, and refuses one that is not listed', async () => {
    const server = await serve(' ls , cat , echo ', { era });
    writeFileSync(join(server.cwd, 'a file'), '');
    expect((await server.call({ command: 'ls' })).structured.stdout).toContain('a file');
    const { text, structured, isError } = await server.call({ command: 'pwd > ran' });
    expect(isError).toBe(true);
    expect(structured).toMatchObject({ exit_code: null, stdout: '', stderr: '', code: 'policy_denied' });
    expect(structured.error).toMatch(/\bpwd\b.*not allowed/);
    expect(text).toContain('not allowed');
    expect(existsSync(join(server.cwd, 'ran'))).toBe(false);
  });
});

describe.concurrent('T5: ALLOWED_COMMANDS', () => {
  it('* allows every program', async () => {
    const server = await serve('*');
    const { structured } = await server.call({ command: 'whoami' });
    expect(structured).toMatchObject({ exit_code: 0, stdout: expect.stringMatching(/^\w+\n$/) });
  });

  it.each([undefined, '', ' , '])(
    'set to %j allows nothing, and the refusal says how to set it',
    async (allowed) => {
      const server = await serve(allowed);
      expect(server.stderr()).toMatch(/warning: ALLOWED_COMMANDS .*ALLOWED_COMMANDS=git,ls,cat/);
      const { structured, isError } = await server.call({ command: 'ls > ran' });
      expect(isError).toBe(true);
      expect(structured.error).toMatch(/\bls\b.*not allowed/);
      expect(structured.hint).toMatch(/^Set ALLOWED_COMMANDS to .*ALLOWED_COMMANDS=ls/);
      expect((await server.call({ command: 'cd / && true > ran' })).isError).toBe(true);
      expect(existsSync(join(server.cwd, 'ran'))).toBe(false);
    },
  );

  it('T10: neither a call nor a command changes what is allowed', async () => {
    const server = await serve('ls,export,cat');
    await server.call({ command: 'export ALLOWED_COMMANDS=*', env: { ALLOWED_COMMANDS: '*' } });
    writeFileSync(join(server.cwd, 'nacre.yaml'), 'allowed_commands: ["*"]\n');
    const { isError } = await server.call({ command: 'pwd', env: { ALLOWED_COMMANDS: '*' } });
    expect(isError).toBe(true);
    const { isError: extra, structured } = await server.call({ command: 'pwd', allowed_commands: '*' });
    expect(extra).toBe(true);
    expect(structured.error).toContain('"allowed_commands"');
  });
});

describe.concurrent('T2: the reply', () => {
  const awkward = [
    'yes',
    '12:30:45',
    '1_000',
    '- a',
    '"',
    "it's",
    '#x',
    'tab\there',
    ' lead',
    `${'long '.repeat(60)}end`,
  ];

  it('is YAML with the first keys exit_code, stdout and stderr, equal to the structured content', async () => {
    const server = await serve('*');
    const { text, structured } = await server.call({
      command: 'cat; echo oops >&2; exit 7',
      input: awkward.join('\n'),
    });
    expect(Object.keys(structured).slice(0, 3)).toEqual(['exit_code', 'stdout', 'stderr']);
    expect(text).toMatch(/^exit_code: 7\nstdout: [|"]/);
    expect(structured).toEqual({ exit_code: 7, stdout: awkward.join('\n'), stderr: 'oops\n' });
    expect(parse(text, { version: '1.1' })).toEqual(structured);
    expect(parse(text, { version: '1.2' })).toEqual(structured);
  });

  it('writes scalars so that YAML 1.1 and 1.2 both read them as the same text', async () => {
    const server = await serve('*');
    const texts = await Promise.all(
      awkward.map(async (word) => (await server.call({ command: 'cat', input: word })).text),
    );
    for (const version of ['1.1', '1.2'] as const) {
      expect(texts.map((text) => parse(text, { version }).stdout)).toEqual(awkward);
    }
  });

  it('to a command that fails is a result, not an error', async () => {
    const server = await serve('*');
    const { structured, isError } = await server.call({ command: 'exit 3' });
    expect([structured.exit_code, isError]).toEqual([3, false]);
    const killed = await server.call({ command: 'kill -9 $$' });
    expect(killed.structured).toMatchObject({ exit_code: 137, signal: 'SIGKILL' });
    expect(killed.isError).toBe(false);
  });

  it('names background processes that were killed with the command', async () => {
    const server = await serve('*');
    const seconds = uniqueSeconds();
    const { structured } = await server.call({ command: `sleep ${seconds} & echo hi` });
    expect(structured).toMatchObject({ exit_code: 0, stdout: 'hi\n' });
    expect(structured.left_running).toEqual([
      expect.stringMatching(new RegExp(`^sleep ${seconds} \\(pid \\d+\\)$`)),
    ]);
    expect(processesWith(`sleep\0${seconds}`)).toEqual([]);
  });
});

describe.concurrent('T4: a command that times out', () => {
  it('is an error with the output so far and a hint, and its whole process tree is gone before the reply', async () => {
    const server = await serve('*');
    const command = "echo so far; (setsid nohup sleep 62.5 >&- 2>&- &); trap '' TERM; sleep 62.5; sleep 62.5";
    const call = server.call({ command, timeout_ms: 300, env: { LABEL: `t4-${server.cwd}` } });
    const { text, structured, isError } = await call;
    expect(processesWith(`LABEL=t4-${server.cwd}`)).toEqual([]);
    expect(isError).toBe(true);
    expect(structured).toMatchObject({ exit_code: null, stdout: 'so far\n', stderr: '' });
    expect(structured.error).toMatch(/timed out after 300 ms/);
    expect(structured.hint).toMatch(/waiting for input.*start_command/);
    expect(text).toMatch(/^exit_code: null\nerror: .*\nsignal: .*\nstdout: \|\n {2}so far\nstderr: ""\n/);
    expect(parse(text)).toEqual(structured);
  });
});

describe.concurrent('T7: cwd', () => {
  it('may be relative to the server’s directory, absolute, or omitted', async () => {
    const server = await serve('*');
    mkdirSync(join(server.cwd, 'front end'));
    const pwd = async (cwd?: string) =>
      (await server.call({ command: 'pwd', ...(cwd && { cwd }) })).structured.stdout;
    expect(await pwd()).toBe(`${server.cwd}\n`);
    expect(await pwd('front end')).toBe(`${server.cwd}/front end\n`);
    expect(await pwd(join(server.cwd, 'front end'))).toBe(`${server.cwd}/front end\n`);
    expect(await pwd('front end/..')).toBe(`${server.cwd}\n`);
  });

  it('that does not exist or is not a directory is an error, and nothing runs', async () => {
    const server = await serve('*');
    const ran = join(freshFolder(server), 'ran');
    writeFileSync(join(server.cwd, 'file'), '');
    for (const cwd of ['does-not-exist', 'file', 'file/below', '/does/not/exist']) {
      const { structured, isError } = await server.call({ command: `echo x > '${ran}'`, cwd });
      expect(isError).toBe(true);
      expect(structured).toMatchObject({ exit_code: null, code: 'cwd_invalid' });
      expect(structured.error).toContain(`"${cwd}"`);
      expect(existsSync(ran)).toBe(false);
    }
  });
});

describe.concurrent('T8: ALLOWED_CWD_ROOTS', () => {
  async function withRoots(roots: string) {
    const server = await serve('*', { env: { ALLOWED_CWD_ROOTS: roots } });
    for (const folder of ['in/deep', 'inside', 'out'])
      mkdirSync(join(server.cwd, folder), { recursive: true });
    const link = join(server.cwd, 'in/link');
    if (!existsSync(link)) symlinkSync(join(server.cwd, 'out'), link);
    const ran = join(freshFolder(server), 'ran');
    const run = (cwd?: string) =>
      server.call({ command: 'pwd; : > "$RAN"', env: { RAN: ran }, ...(cwd && { cwd }) });
    return { server, run, ran: () => existsSync(ran) };
  }

  it('allows a directory within a root', async () => {
    const { server, run } = await withRoots('in');
    expect((await run('in')).structured.stdout).toBe(`${server.cwd}/in\n`);
    expect((await run('in/deep')).structured.stdout).toBe(`${server.cwd}/in/deep\n`);
    expect((await run()).structured.stdout).toBe(`${server.cwd}\n`);
  });

  it('refuses a directory outside by its canonical path, also through .. and symlinks', async () => {
    const { run, ran } = await withRoots('in');
    for (const cwd of ['/tmp', 'out', 'inside', 'in/..', 'in/link', 'in/deep/../../out']) {
      const { structured, isError } = await run(cwd);
      expect([cwd, isError, structured.code]).toEqual([cwd, true, 'cwd_not_allowed']);
      expect(structured.error).toMatch(/cwd .* not allowed/);
      expect(ran()).toBe(false);
    }
  });

  it('restricts nothing if it is unset or empty', async () => {
    const { run } = await withRoots('');
    expect((await run('/tmp')).structured.exit_code).toBe(0);
  });

  it('with a root that does not exist makes the server warn at the start and refuse every cwd', async () => {
    const { server, run, ran } = await withRoots('in,/path/that/does/not/exist');
    expect(server.stderr()).toMatch(/warning: ALLOWED_CWD_ROOTS lists .*\/path\/that\/does\/not\/exist/);
    const { structured, isError } = await run('in');
    expect([isError, structured.code]).toEqual([true, 'cwd_roots_invalid']);
    expect(structured.error).toMatch(/Configuration problem.*ALLOWED_CWD_ROOTS/);
    expect(ran()).toBe(false);
    expect((await run()).structured.exit_code).toBe(0);
  });
});

describe.concurrent('T1: the other fields', () => {
  it('env adds variables for that command only', async () => {
    const server = await serve('*');
    const command = 'printenv COLOUR || echo none';
    expect((await server.call({ command, env: { COLOUR: 'mauve' } })).structured.stdout).toBe('mauve\n');
    expect((await server.call({ command })).structured.stdout).toBe('none\n');
  });

  it('output has at most 30000 characters, stdout and stderr together, and is cut in the middle', async () => {
    const server = await serve('*');
    const line = 'x'.repeat(99);
    const command = `for i in {1..900}; do echo ${line}; done; for i in {1..200}; do echo ${line}; done >&2`;
    const { structured } = await server.call({ command });
    const [stdout, stderr] = [String(structured.stdout), String(structured.stderr)];
    expect(structured.truncated).toBe(true);
    expect(stdout.length + stderr.length).toBeGreaterThan(29_000);
    expect(stdout.length + stderr.length).toBeLessThan(30_500);
    expect(stderr).toBe(`${line}\n`.repeat(200));
    expect(stdout).toMatch(/\n\[Output truncated: 80,000 characters \(800 lines\) left out\.\]\n/);
  });

  it('T2: the count of what is left out and the id come before stdout, which is cut at line ends', async () => {
    const server = await serve('*');
    const { text, structured } = await server.call({ command: 'seq 1 160000; echo broken >&2; exit 3' });
    expect(Object.keys(structured).slice(0, 6)).toEqual([
      ...['exit_code', 'truncated', 'left_out', 'command_id', 'stdout', 'stderr'],
    ]);
    expect(structured.stderr).toBe('broken\n');
    expect(text.split('\n').length).toBeLessThanOrEqual(1_900);
    const shown = String(structured.stdout).split('\n').slice(0, -1);
    const cut = shown.findIndex((line) => line.startsWith('[Output truncated'));
    const numbers = shown.toSpliced(cut, 1).map(Number);
    expect(numbers.slice(0, cut)).toEqual(Array.from({ length: cut }, (_, index) => index + 1));
    expect(numbers.slice(cut)).toEqual(
      Array.from({ length: numbers.length - cut }, (_, index) => 160_001 - numbers.length + cut + index),
    );
    expect(structured.left_out).toMatchObject({ lines: 160_000 - numbers.length });
  });

  it('T2: hints and withheld variables are sent once per connection, a timeout always has a hint', async () => {
    const server = await connect({ env: { ALLOWED_COMMANDS: '*', MY_TOKEN: 'hidden' } });
    const twice = async (args: Record<string, unknown>) => [await server.call(args), await server.call(args)];
    const [failed, again] = await twice({ command: 'false' });
    expect(failed?.structured.withheld_env).toContain('MY_TOKEN');
    expect(again?.structured).toEqual({ exit_code: 1, stdout: '', stderr: '' });
    const [long, longer] = await twice({ command: 'seq 1 20000' });
    expect(long?.structured.hint).toMatch(/read_output/);
    expect(longer?.structured.hint).toBeUndefined();
    const [late, later] = await twice({ command: 'sleep 60.5', timeout_ms: 100 });
    expect(String(later?.structured.hint).length).toBeLessThan(String(late?.structured.hint).length);
    for (const reply of [late, later])
      expect(reply?.structured.hint).toMatch(/waiting for input.*start_command/);
    expect(await server.close()).toEqual([]);
  });

  // The smallest limit, the limit on lines, and a client that counts bytes.
  const limited = Object.entries(knownClients).filter(([name]) =>
    ['cline', 'opencode', 'codex'].includes(name),
  );
  it.each(limited)(
    'T2: the stderr of a failing command reaches the model in %s',
    async (_name, { clientName, maxChars = 100_000, maxLines = 100_000 }) => {
      const name = clientName.source.replace(/[\\^$]|\(.*\)/g, '');
      const server = await serve('*', { name });
      const hostile = String.raw`for i in {1..3000}; do printf "\u6f22\t\x01 %s\n" $i; done`;
      for (const print of ['seq 1 160000', 'head -c 100000 /dev/zero | tr "\\0" x', hostile]) {
        const command = `${print}; echo broken >&2; exit 3`;
        const { content } = await server.client.callTool({ name: 'execute_command', arguments: { command } });
        const text = (content as { text: string }[])[0]?.text ?? '';
        expect(parse(text)).toMatchObject({ exit_code: 3, truncated: true, stderr: 'broken\n' });
        expect(Buffer.byteLength(text)).toBeLessThan(maxChars);
        expect(text.split('\n').length).toBeLessThan(maxLines);
      }
    },
  );

  it('max_output_chars sets another limit', async () => {
    const server = await serve('*');
    const { structured: less } = await server.call({ command: 'seq 1 1000', max_output_chars: 100 });
    expect(less.truncated).toBe(true);
    expect(String(less.stdout).replace(/\[Output.*?\]\n/s, '').length).toBeLessThanOrEqual(101);
    const { structured: more } = await server.call({ command: 'seq 1 30000', max_output_chars: 200_000 });
    expect(more).toEqual({
      exit_code: 0,
      stdout: Array.from({ length: 30_000 }, (_, index) => `${index + 1}\n`).join(''),
      stderr: '',
    });
  });
});
