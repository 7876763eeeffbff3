// The commands in the .jsonl files are what coding agents run most in each kind of project: 60 everywhere and 40 of its own.
// With the defaults that `nacre init` proposes, at most two of each hundred may be refused, or fail in the sandbox.
import { execFileSync } from 'node:child_process';
import { chmodSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Client } from '@modelcontextprotocol/client';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';
import { afterAll, describe, expect, test } from 'vitest';
import { presetFor, registriesOf } from '../../src/clients/project-defaults.ts';
import { createTestDeps } from '../support/door-deps.ts';
import { dataOf } from '../support/mcp.ts';
import { createPlace, survivors } from '../support/nacre.ts';
import { needLevel } from '../support/needs.ts';
import { cliFor, users } from '../support/users.ts';
import {
  type Project,
  projectNames,
  projects,
  readUsualCommands,
  type UsualCommand,
} from './read-usual-commands.ts';

const mostRefused = 2;
const folders: string[] = [];
const usualPath = '/usr/local/bin:/usr/bin:/bin';

describe('of a hundred usual commands, the proposed preset refuses at most two', () => {
  test.each(projectNames)('in a %s project', async (project) => {
    const commands = [...readUsualCommands('common'), ...readUsualCommands(project)];
    expect(new Set(commands.map(({ command }) => command)).size).toBe(100);
    const refused = await refusals(project, commands);
    expect(refused.length, refused.join('\n')).toBeLessThanOrEqual(mostRefused);
  });
});

async function refusals(project: Project, commands: readonly UsualCommand[]): Promise<readonly string[]> {
  const preset = presetFor(projects[project]);
  // A project is not the home directory, where bin is a folder of programs.
  const { env } = createPlace();
  const { engine, ownRules, close } = await createTestDeps(['--preset', preset], {
    env,
    cwd: createPlace().cwd,
  });
  const refused: string[] = [];
  for (const { command, hosts = [] } of commands) {
    const { decision } = await (await engine()).check(
      { command: { kind: 'shell', script: command } },
      ownRules,
    );
    const blocked = hosts.filter((host) => !registriesOf(preset).includes(host));
    if (decision.verdict !== 'allow') refused.push(`${command}: ${decision.reason}`);
    else if (blocked.length > 0) refused.push(`${command}: ${blocked.join(', ')} cannot be reached`);
  }
  await close();
  return refused;
}

describe('in the sandbox of a server that nacre init configured, as an ordinary user', () => {
  const marks: string[] = [];
  afterAll(async () => {
    for (const folder of folders) rmSync(folder, { recursive: true, force: true });
    for (const mark of marks) expect(await survivors(mark)).toEqual([]);
  });

  // The mixed project also runs the commands of every kind, and those of Go and Rust where they are installed.
  test.for<Project>(['node', 'python', 'mixed'])(
    'the usual commands of a %s project run',
    { timeout: 120_000 },
    async (project, context) => {
      await needLevel(context, 'namespace');
      const here = await startServer(project);
      marks.push(here.mark);
      const own = readUsualCommands(project);
      const commands = [...(project === 'mixed' ? readUsualCommands('common') : []), ...own].filter(canRun);
      const failed: string[] = [];
      try {
        for (const { command, exit = 0 } of commands) {
          const { exit_code: code, stderr, error } = await here.run(command);
          if (code !== exit) failed.push(`${command}: exit ${code}, ${error ?? stderr}`);
        }
        await here.checkSandbox();
      } finally {
        await here.close();
      }
      const refused = await refusals(project, [...readUsualCommands('common'), ...own]);
      const all = [...new Set([...refused, ...failed])];
      expect(all.length, all.join('\n')).toBeLessThanOrEqual(mostRefused);
    },
  );
});

function canRun({ hosts, run = true, needs = [] }: UsualCommand): boolean {
  return run && hosts === undefined && needs.every(isInstalled);
}

function isInstalled(program: string): boolean {
  return usualPath.split(':').some((folder) => existsSync(join(folder, program)));
}

/** Creates a project in a home directory with a blank in its name, runs `nacre init`, and starts the server as its client would. */
async function startServer(project: Project) {
  const place = createPlace();
  // Below /tmp, a sandbox would show its own private /tmp instead of the home directory.
  const base = mkdtempSync('/var/tmp/nacre-test-');
  folders.push(base);
  chmodSync(base, 0o755);
  const home = join(base, 'ho me');
  const folder = join(home, 'my app');
  mkdirSync(folder, { recursive: true });
  writeFileSync(
    join(home, '.gitconfig'),
    '[user]\n  name = Ann\n  email = ann@example.com\n[init]\n  defaultBranch = main\n',
  );
  for (const name of projects[project]) writeFileSync(join(folder, name), projectFiles[name] ?? '');
  for (const [name, text] of Object.entries(sharedFiles)) {
    mkdirSync(join(folder, name, '..'), { recursive: true });
    writeFileSync(join(folder, name), text);
  }
  const { cli, identity } = cliFor(users.at(-1) ?? 'root', place.cwd);
  const { uid, gid } = identity;
  if (uid !== undefined) execFileSync('chown', ['-R', `${uid}:${gid}`, home]);
  const become = uid === undefined ? [] : ['setpriv', `--reuid=${uid}`, `--regid=${gid}`, '--clear-groups'];
  const env = { ...place.env, HOME: home, PATH: usualPath };
  const as = (...argv: string[]) => {
    const [file = '', ...args] = [...become, ...argv];
    return execFileSync(file, args, { cwd: folder, env, encoding: 'utf8' });
  };
  as(
    'bash',
    '-c',
    'git init -q && git add -A && git commit -qm one && echo hello >> README.md && git commit -qam two',
  );
  as(process.execPath, cli, 'init', 'claude-code', '--yes');
  const entry = JSON.parse(readFileSync(join(home, '.claude.json'), 'utf8')).mcpServers.nacre;
  expect(entry.env).toEqual({});
  const [command = '', ...args] = [...become, entry.command, ...entry.args];
  const client = new Client({ name: 'tester', version: '1' });
  await client.connect(new StdioClientTransport({ command, args, env, cwd: folder, stderr: 'ignore' }));
  const run = async (script: string) => {
    const result = await client.callTool({
      name: 'execute_command',
      arguments: { command: script },
    });
    return dataOf(result) as { exit_code?: number; stdout?: string; stderr?: string; error?: string };
  };
  return {
    mark: place.mark,
    run,
    /** Asserts that commands cannot write outside the project, read keys, or reach hosts that are not listed. */
    async checkSandbox() {
      expect((await run('echo x > ../outside')).exit_code).toBe(1);
      expect(existsSync(join(home, 'outside'))).toBe(false);
      expect((await run('mkdir ~/.ssh')).exit_code).toBe(1);
      expect((await run('cat ~/.config/nacre/config.yaml')).stdout).toBe('');
      expect((await run('curl -s -o /dev/null -w "%{http_code}" http://example.com/')).stdout).toBe('403');
    },
    close: () => client.close(),
  };
}

const projectFiles: Readonly<Record<string, string>> = {
  'package.json': JSON.stringify({
    name: 'app',
    version: '1.0.0',
    scripts: {
      test: 'node --test',
      build: 'node src/index.js > build.log',
      lint: 'node --check src/index.js',
    },
  }),
  'pyproject.toml': '[project]\nname = "app"\nversion = "1.0.0"\n',
  'requirements.txt': '# none\nrequests\n',
  'go.mod': 'module example.com/app\n\ngo 1.21\n',
  'Cargo.toml': '[package]\nname = "app"\nversion = "0.1.0"\nedition = "2021"\n',
};

const sharedFiles: Readonly<Record<string, string>> = {
  'README.md': '# App\n\nhello\n',
  Makefile: 'check:\n\t@echo checked\n',
  'data.json': '{"a": 1}\n',
  'scripts/task.sh': '#!/bin/sh\necho task\n',
  'src/index.js': 'console.log("hello");\n',
  'src/index.test.js': "const { test } = require('node:test');\ntest('one', () => {});\n",
  'src/app.py': 'print("hello")\n',
  'src/main.rs': 'fn main() {\n    println!("hello");\n}\n\n#[test]\nfn one() {}\n',
  'main.go': 'package main\n\nimport "fmt"\n\nfunc main() { fmt.Println("hello") }\n',
  'tests/test_app.py':
    'import unittest\n\n\nclass One(unittest.TestCase):\n    def test_one(self):\n        pass\n',
};
