import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { spawn as openPty } from '@lydell/node-pty';
import { Client } from '@modelcontextprotocol/client';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { builtCli } from './support/build.ts';
import { blocks, findPages } from './support/pages.ts';

const pages = findPages();
const home = mkdtempSync(join(tmpdir(), 'nacre-docs-'));
// A folder below `home`, because the home directory itself is refused as the workspace of a sandbox.
const work = join(home, 'work');
mkdirSync(work);
const env = { PATH: '/usr/bin:/bin', HOME: home, NACRE_LOGIN_ENV: 'never' };

interface Example {
  readonly command: string;
  readonly expected: string;
  /** The exit code that a following `echo $?` shows; 0 if there is none. */
  readonly status: number;
}

afterAll(() => rmSync(home, { recursive: true, force: true }));

describe.each(pages)('%s', (page) => {
  const examples = examplesIn(page);
  const settings = join(home, `${page.replaceAll('/', '-')}.yaml`);

  beforeAll(() => writeFileSync(settings, blocks(page, 'yaml').join('\n')));

  if (blocks(page, 'yaml').length > 0)
    test('has valid settings', () => {
      expect(sh(`nacre config --config ${settings}`)).toMatchObject({ stderr: '', status: 0 });
    });

  test('has valid JSON', () => {
    for (const block of blocks(page, 'json')) expect(() => JSON.parse(block), block).not.toThrow();
  });

  test.each(linesIn(page))('has a command that works: %s', (line) => {
    const { stdout, stderr, status } = sh(line);
    expect({ status, stdout, stderr }, line).toMatchObject({ status: 0 });
  });

  // The settings that a page shows apply to all of its examples.
  test.each(examples)('shows what a terminal shows for: $command', async ({ command, expected, status }) => {
    const configured = command.replace(/\bnacre (\w+)/, `nacre $1 --config ${settings}`);
    // Each page gets its own `XDG_STATE_HOME`, because `nacre history` shows earlier commands.
    const state = join(home, `${page.replaceAll('/', '-')}.state`);
    const shown = await atTerminal(`export XDG_STATE_HOME=${state}; ${configured}`);
    expect({ ...shown, text: withoutDetails(shown.text) }).toEqual({
      text: withoutDetails(expected),
      status,
    });
  });
});

test('the pages have examples to check', () => {
  expect(pages.flatMap(examplesIn).length).toBeGreaterThan(7);
});

test('the README has a program that runs', () => {
  const folder = join(home, 'readme');
  mkdirSync(join(folder, 'node_modules'), { recursive: true });
  symlinkSync(resolve('.'), join(folder, 'node_modules', 'nacre'));
  const [program = ''] = blocks('README.md', 'js');
  writeFileSync(join(folder, 'a.mjs'), `${program}\nconsole.log(tools.length, result.metadata.command);\n`);
  const { stdout, stderr } = spawnSync(process.execPath, ['a.mjs'], { env, cwd: folder, encoding: 'utf8' });
  expect({ stdout, stderr }).toEqual({ stdout: '4 git status\n', stderr: '' });
});

describe('docs/guide/functions.md', () => {
  const page = 'docs/guide/functions.md';
  const [programs, outputs] = [blocks(page, 'js'), blocks(page, 'text')];
  const folder = join(home, 'program');

  beforeAll(() => {
    mkdirSync(join(folder, 'node_modules'), { recursive: true });
    symlinkSync(resolve('.'), join(folder, 'node_modules', 'nacre'));
  });

  test('shows the output of each of its programs', () => {
    expect(programs.length).toBe(outputs.length);
    expect(programs.length).toBeGreaterThan(0);
  });

  test.each(programs.map((program, index) => [index + 1, program] as const))(
    'program %i',
    (number, program) => {
      const file = join(folder, `${number}.mjs`);
      writeFileSync(file, program);
      const { stdout, stderr } = spawnSync(process.execPath, [file], { env, cwd: folder, encoding: 'utf8' });
      expect({ stdout, stderr }).toEqual({ stdout: outputs[number - 1], stderr: '' });
    },
  );
});

test('the README has a configuration that an MCP client can use unchanged', async () => {
  const [snippet = ''] = blocks('README.md', 'json');
  const { command, args, env: snippetEnv } = JSON.parse(snippet).mcpServers.nacre;
  const here = args.map((arg: string) => arg.replace('/path/to/nacre', resolve('.')));
  const own = { ...env, PATH: `${dirname(process.execPath)}:${env.PATH}`, ...snippetEnv };
  const client = new Client({ name: 'readme', version: '1' });
  await client.connect(new StdioClientTransport({ command, args: here, env: own, stderr: 'ignore' }));
  try {
    expect((await client.listTools()).tools.map((tool) => tool.name)).toContain('execute_command');
    const reply = await client.callTool({
      name: 'execute_command',
      arguments: { command: 'git --version' },
    });
    expect(reply.structuredContent).toMatchObject({
      exit_code: 0,
      stdout: expect.stringContaining('git version'),
    });
  } finally {
    await client.close();
  }
});

test('docs/guide/http.md has a call that works', async () => {
  const args = [builtCli, 'serve', '--port', '0', '--json'];
  const server = spawn(process.execPath, args, { env, cwd: home, stdio: ['ignore', 'pipe', 'ignore'] });
  try {
    const [line] = await once(server.stdout, 'data');
    const { address, token } = JSON.parse(String(line));
    const call = blocks('docs/guide/http.md', 'sh').find((block) => block.startsWith('curl ')) ?? '';
    const project = join(home, 'project');
    const here = call.replace('http://127.0.0.1:7433', address).replace('/home/me/project', project);
    const { stdout } = sh(`git init -q ${project}; TOKEN=${token}; ${here}`);
    expect(JSON.parse(stdout)).toMatchObject({ code: 0, stdout: expect.stringContaining('# branch.head') });
  } finally {
    server.kill();
    await once(server, 'exit');
  }
});

function sh(command: string) {
  return spawnSync('bash', ['-c', withNacre(command)], { env, cwd: work, encoding: 'utf8' });
}

function withNacre(command: string): string {
  return `nacre() { "${process.execPath}" "${builtCli}" "$@"; }; ${command}`;
}

/** Runs a command at a terminal, as a reader would, and returns what it shows, without colours. */
async function atTerminal(command: string): Promise<{ text: string; status: number }> {
  const terminal = openPty('bash', ['-c', withNacre(command)], {
    cwd: work,
    env: { ...env, TERM: 'xterm' },
    cols: 120,
  });
  let text = '';
  terminal.onData((data) => {
    text += data;
  });
  const status = await new Promise<number>((done) => terminal.onExit(({ exitCode }) => done(exitCode)));
  return { text: text.replaceAll('\r\n', '\n').replace(/\u001b\[[\d;]*m/g, ''), status };
}

/** Replaces pids, and the directories of programs in tables, because they differ between machines. */
function withoutDetails(text: string): string {
  return text.replace(/\(\d+\)/g, '(PID)').replace(/ \/(?:usr\/)?s?bin\//g, ' /bin/');
}

/** The commands in the `sh` blocks of a page, except those that change the machine or never end. */
function linesIn(page: string): string[] {
  const lines = blocks(page, 'sh').flatMap((block) => block.replaceAll('\\\n', '').split('\n'));
  return lines.filter((line) => line !== '' && !cannotRun.some((pattern) => pattern.test(line)));
}

const askForStatus = 'echo $?';

const cannotRun = [
  /^ssh |^nacre machines check|--on /, // Needs another machine: tests/roads/machines.test.ts, tests/machines.
  /^npm |^npx |^node (?:bench|dist\/)/, // Needs the clone, and installs or builds: covered by tests/package.
  /^nacre (?:serve|open)|^curl /, // Needs a server, which runs until interrupted: covered by tests/http and tests/control.
  /^mkdir|^systemctl|^loginctl|^nacre unit/, // Changes the user's services.
  /^docker |^git pull|^tar |^rm -r|--remove/, // Needs an installation: tests/packaging.test.ts, tests/cli/upgrade.test.ts.
  /completions (?:zsh|fish)|man -l|\bjq\b/, // Needs a program that may not be installed.
];

function examplesIn(page: string): Example[] {
  const pieces = blocks(page, 'console').flatMap((block) => block.split(/^\$ /m));
  const examples = pieces
    .filter((piece) => piece !== '')
    .map((piece) => {
      const [command = '', ...lines] = piece.split('\n');
      return { command, expected: lines.join('\n') };
    });
  return examples.flatMap((example, index) => {
    const next = examples[index + 1];
    const status = next?.command === askForStatus ? Number(next.expected) : 0;
    return example.command === askForStatus ? [] : [{ ...example, status }];
  });
}
