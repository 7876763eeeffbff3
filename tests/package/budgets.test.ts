import { spawnSync } from 'node:child_process';
import { existsSync, readdirSync, readFileSync, rmSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { expect, onTestFinished, test, vi } from 'vitest';
import { builtCli } from '../support/build.ts';
import { createPlace, type Place } from '../support/nacre.ts';
import { pack } from '../support/packed.ts';
import { soakCount } from '../support/soak.ts';

vi.setConfig({ testTimeout: 90_000 });

const { size, unpackedSize, files } = pack();
const kB = 1_000;
const budgets = {
  /** Bytes of the tarball; documentation and examples are about 190 kB of them, and the code for other machines 60 kB. */
  packed: 1_850 * kB,
  /** Bytes of the unpacked package; documentation and examples are about 450 kB of them. */
  unpacked: 5_400 * kB,
  /** Bytes of all code in dist/; the greeter and the detached worker have copies of what they need, 45 kB for changes and 40 kB for other machines. */
  code: 3_100 * kB,
  /** Bytes of code that `cli.js` loads before it knows the door. */
  atStart: 20 * kB,
  /** Bytes of the code that answers the first messages of an MCP client. */
  greeter: 200 * kB,
  /** CPU time of `nacre --version`, as a multiple of that of `node -e 0`. */
  version: 4.5,
  /** CPU time of an MCP connection, likewise. */
  mcp: 6,
};

test('the package is small', () => {
  expect(size).toBeLessThan(budgets.packed);
  expect(unpackedSize).toBeLessThan(budgets.unpacked);
});

test('the package contains dist/, documentation and examples, and no sources or tests', () => {
  const roots = new Set(files.map((path) => path.split('/')[0]));
  const pages = readdirSync('.').filter((name) => name.endsWith('.md'));
  expect([...roots].sort()).toEqual(['LICENSE', 'dist', 'docs', 'examples', 'package.json', ...pages].sort());
  for (const path of ['dist/cli.js', 'dist/ws.cjs', 'dist/nacre.1', 'dist/THIRD_PARTY_NOTICES.md'])
    expect(files).toContain(path);
  expect(files.filter((path) => /\.map$|(?<!\.d)\.ts$|test/.test(path))).toEqual([]);
});

test('the package has no dependencies', () => {
  const { dependencies = {} } = JSON.parse(readFileSync('package.json', 'utf8'));
  expect(dependencies).toEqual({});
});

test('little code is loaded at start-up', () => {
  const code = readdirSync('dist').filter((name) => /\.c?js$/.test(name));
  expect(sizeOf(code)).toBeLessThan(budgets.code);
  const atStart = reachedFrom('cli.js');
  expect(atStart.size).toBeGreaterThan(1);
  expect(sizeOf([...atStart])).toBeLessThan(budgets.atStart);
  expect(sizeOf(code.filter((name) => name.startsWith('greeter-')))).toBeLessThan(budgets.greeter);
});

test('starting takes a small multiple of the CPU time of node -e 0', () => {
  const place = createPlace({ ALLOWED_COMMANDS: '*' });
  onTestFinished(() => rmSync(place.cwd, { recursive: true, force: true }));
  const node = process.execPath;
  const spent = { bare: 0, version: 0, mcp: 0 };
  for (let round = 0; round < soakCount(10, 4); round += 1) {
    spent.bare += cpuSeconds(`"${node}" -e 0`, place);
    spent.version += cpuSeconds(`"${node}" "${builtCli}" --version`, place);
    spent.mcp += cpuSeconds(`"${node}" "${builtCli}" mcp <<< '${initialize}'`, place);
  }
  expect(JSON.parse(readFileSync(join(place.cwd, 'stdout'), 'utf8'))).toHaveProperty('result.serverInfo');
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

/** The CPU time of a command, which depends less on the load of the machine than wall-clock time. */
function cpuSeconds(command: string, { cwd, env }: Place): number {
  const script = `TIMEFORMAT='%3U %3S'; time ${command} > stdout`;
  const { stderr, status } = spawnSync('bash', ['-c', script], { cwd, env, encoding: 'utf8' });
  expect(status).toBe(0);
  const [user = Number.NaN, system = Number.NaN] = stderr.trim().split(' ').map(Number);
  return user + system;
}

function sizeOf(names: readonly string[]): number {
  return names.reduce((sum, name) => sum + statSync(join('dist', name)).size, 0);
}

/** The files in dist/ that a file imports statically, directly or indirectly. */
function reachedFrom(name: string, reached = new Set<string>()): Set<string> {
  if (reached.has(name) || !existsSync(join('dist', name))) return reached;
  reached.add(name);
  const code = readFileSync(join('dist', name), 'utf8');
  for (const [, next = ''] of code.matchAll(/(?:from|import)"\.\/([^"]+)"/g)) reachedFrom(next, reached);
  return reached;
}
