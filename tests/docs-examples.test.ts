import { spawnSync } from 'node:child_process';
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { Client } from '@modelcontextprotocol/client';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { builtCli } from './support/build.ts';

const guides = readdirSync('docs/guide').map((name) => `docs/guide/${name}`);
const pages = ['README.md', 'ARCHITECTURE.md', 'CONTRIBUTING.md', ...guides];
const home = mkdtempSync(join(tmpdir(), 'nacre-docs-'));
const env = { PATH: '/usr/bin:/bin', HOME: home, NACRE_LOGIN_ENV: 'never' };

interface Example {
  readonly command: string;
  readonly expected: string;
}

afterAll(() => rmSync(home, { recursive: true, force: true }));

describe.each(pages)('%s', (page) => {
  const examples = examplesIn(page);
  const settings = join(home, `${page.replaceAll('/', '-')}.yaml`);

  beforeAll(() => writeFileSync(settings, blocks(page, 'yaml').join('\n')));

  test('links only to what exists', () => {
    const links = [...readFileSync(page, 'utf8').matchAll(/\]\(([^)#:]+)\)/g)].map(([, link = '']) => link);
    expect(links.filter((link) => !existsSync(join(dirname(page), link)))).toEqual([]);
  });

  test('has settings with which nacre starts', () => {
    expect(sh(`nacre config --config ${settings}`)).toMatchObject({ stderr: '', status: 0 });
  });

  // The settings that a page shows hold for all of its examples.
  test.each(examples)('tells the truth about: $command', ({ command, expected }) => {
    const configured = command.replace(/\bnacre (\w+)/, `nacre $1 --config ${settings}`);
    // What one page does is no part of another's history.
    const state = join(home, `${page.replaceAll('/', '-')}.state`);
    const { stdout, stderr, status } = sh(`export XDG_STATE_HOME=${state}; ${configured}`);
    const exit = status === 0 ? '' : `[exit ${status}]\n`;
    const shown = `${stdout}${stderr}${exit}`.replace(/\(\d+\)/g, '(PID)');
    expect(placeless(shown)).toBe(placeless(expected));
  });
});

test('the pages have examples to check', () => {
  expect(pages.flatMap(examplesIn).length).toBeGreaterThan(7);
});

describe('docs/guide/functions.md', () => {
  const page = 'docs/guide/functions.md';
  const [programs, outputs] = [blocks(page, 'js'), blocks(page, 'text')];
  const folder = join(home, 'program');

  beforeAll(() => {
    mkdirSync(join(folder, 'node_modules'), { recursive: true });
    symlinkSync(resolve('.'), join(folder, 'node_modules', 'nacre'));
  });

  test('shows what each of its programs prints', () => {
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

test('the README has a snippet that an MCP client can use as it is', async () => {
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

function sh(command: string) {
  const script = `nacre() { ${process.execPath} ${builtCli} "$@"; }; ${command}`;
  return spawnSync('bash', ['-c', script], { env, cwd: home, encoding: 'utf8' });
}

/** Where a program is found, or whether it is at all, differs from machine to machine. */
function placeless(text: string): string {
  return text.replace(/^( {2}\S+ \(\d+-\d+)(?:, \/[^,)]+)?/gm, '$1');
}

function examplesIn(page: string): Example[] {
  const pieces = blocks(page, 'console').flatMap((block) => block.split(/^\$ /m));
  return pieces
    .filter((piece) => piece !== '')
    .map((piece) => {
      const [command = '', ...lines] = piece.split('\n');
      return { command, expected: lines.join('\n') };
    });
}

function blocks(page: string, language: string): string[] {
  const fence = new RegExp(`^\`\`\`${language}\n([^]*?)^\`\`\``, 'gm');
  return [...readFileSync(page, 'utf8').matchAll(fence)].map(([, text = '']) => text);
}
