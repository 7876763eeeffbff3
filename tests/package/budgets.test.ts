import { spawnSync } from 'node:child_process';
import { existsSync, readdirSync, readFileSync, rmSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { expect, onTestFinished, test, vi } from 'vitest';
import { builtCli } from '../support/build.ts';
import { createPlace, type Place } from '../support/nacre.ts';
import { pack } from '../support/packed.ts';

vi.setConfig({ testTimeout: 90_000 });

const kB = 1_000;
const budgets = {
  /** The tarball, and what it becomes on disk. */
  packed: 850 * kB,
  unpacked: 2_900 * kB,
  /** All code, and what is loaded before it is known which door is wanted. */
  code: 1_750 * kB,
  atStart: 280 * kB,
  /** Times of the processor time of `node -e 0`: to tell the version, and to begin and end an MCP connection. */
  version: 4.5,
  mcp: 9,
};

test('the package is small', () => {
  const { size, unpackedSize } = pack();
  expect(size).toBeLessThan(budgets.packed);
  expect(unpackedSize).toBeLessThan(budgets.unpacked);
});

test('it holds what runs and what tells about it, and nothing of how it was made', () => {
  const { files } = pack();
  const roots = new Set(files.map((path) => path.split('/')[0]));
  expect([...roots].sort()).toEqual(['LICENSE', 'README.md', 'dist', 'package.json']);
  for (const path of ['dist/cli.js', 'dist/ws.cjs', 'dist/nacre.1', 'dist/THIRD_PARTY_NOTICES.md'])
    expect(files).toContain(path);
  expect(files.filter((path) => /\.map$|(?<!\.d)\.ts$|test/.test(path))).toEqual([]);
});

test('it brings no package along that has to be installed', () => {
  const { dependencies = {} } = JSON.parse(readFileSync('package.json', 'utf8'));
  expect(dependencies).toEqual({});
});

test('little code is loaded at the start', () => {
  const files = readdirSync('dist').filter((name) => /\.c?js$/.test(name));
  expect(sizeOf(files)).toBeLessThan(budgets.code);
  const atStart = reachedFrom('cli.js');
  expect(atStart.size).toBeGreaterThan(1);
  expect(sizeOf([...atStart])).toBeLessThan(budgets.atStart);
});

test('it starts with a few times of the work that Node itself needs', () => {
  const place = createPlace({ ALLOWED_COMMANDS: '*' });
  onTestFinished(() => rmSync(place.cwd, { recursive: true, force: true }));
  const node = process.execPath;
  const spent = { bare: 0, version: 0, mcp: 0 };
  for (let round = 0; round < 10; round += 1) {
    spent.bare += cpuSeconds(`${node} -e 0`, place);
    spent.version += cpuSeconds(`${node} ${builtCli} --version`, place);
    spent.mcp += cpuSeconds(`${node} ${builtCli} mcp <<< '${initialize}'`, place);
  }
  expect(JSON.parse(readFileSync(join(place.cwd, 'said'), 'utf8'))).toHaveProperty('result.serverInfo');
  expect(spent.version / spent.bare).toBeLessThan(budgets.version);
  expect(spent.mcp / spent.bare).toBeLessThan(budgets.mcp);
});

const initialize = JSON.stringify({
  ...{ jsonrpc: '2.0', id: 1, method: 'initialize' },
  params: {
    protocolVersion: '2025-11-25',
    capabilities: {},
    clientInfo: { name: 'tester', version: '1' },
  },
});

/** What a command takes of the processors, which says more on a busy machine than the time that passes. */
function cpuSeconds(command: string, { cwd, env }: Place): number {
  const script = `TIMEFORMAT='%3U %3S'; time ${command} > said`;
  const { stderr, status } = spawnSync('bash', ['-c', script], { cwd, env, encoding: 'utf8' });
  expect(status).toBe(0);
  const [user = Number.NaN, system = Number.NaN] = stderr.trim().split(' ').map(Number);
  return user + system;
}

function sizeOf(names: readonly string[]): number {
  return names.reduce((sum, name) => sum + statSync(join('dist', name)).size, 0);
}

/** The files that one imports at its head, and those that these import. */
function reachedFrom(name: string, reached = new Set<string>()): Set<string> {
  if (reached.has(name) || !existsSync(join('dist', name))) return reached;
  reached.add(name);
  const code = readFileSync(join('dist', name), 'utf8');
  for (const [, next = ''] of code.matchAll(/(?:from|import)"\.\/([^"]+)"/g)) reachedFrom(next, reached);
  return reached;
}
