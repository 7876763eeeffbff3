// `npm run conformance`: runs the official MCP conformance suite against `nacre serve`, and the inspector's strict mode over
// both transports:
// 1. install the suite, the inspector and a Node.js version that they support into node_modules/.cache,
// 2. start a relay on this machine that adds the token, because the suite cannot send one,
// 3. ignore scenarios that need tools, prompts and resources made for the suite; any other failure is a bug in nacre.
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { createServer, request } from 'node:http';
import { join, resolve } from 'node:path';
import { createInterface } from 'node:readline';

const folder = resolve('node_modules/.cache/conformance');
const cli = resolve('dist/cli.js');
const place = mkdtempSync('/tmp/nacre-conformance-');
const env = { PATH: process.env.PATH, HOME: place, ALLOWED_COMMANDS: '*', NACRE_LOGIN_ENV: 'never' };
const versions = ['2025-11-25', '2026-07-28'];
// Messages of the suite for a server without its test tools, or without prompts, completion or logging.
const notApplicable =
  /There is no tool "test_|Tool 'json_schema_2020_12_tool' not found|Resource not found: test:|Method not found|^Not testable/;
// Scenarios that also need a test tool, but whose message does not say so.
const notApplicableScenarios = /^server-input-required-result-(?:multi-round|tampered-state)-/;

const node = install();
spawnSync(process.execPath, ['scripts/build.mjs'], { stdio: 'inherit' });
const server = spawn(process.execPath, [cli, 'serve', '--port', '0', '--json'], {
  env,
  cwd: place,
  stdio: ['ignore', 'pipe', 'inherit'],
});
const relay = createServer();
try {
  const [line] = await once(createInterface({ input: server.stdout }), 'line');
  const { mcp, token } = JSON.parse(line);
  const url = await openRelay(new URL(mcp), token);
  const failed = [];
  for (const version of versions) failed.push(...(await runSuite(url, version)));
  const stdio = [process.execPath, cli, 'mcp', '--tools', 'all'];
  const http = [mcp, '--header', `Authorization: Bearer ${token}`];
  for (const [name, target] of Object.entries({ stdio, http })) {
    const { code, stderr } = await run([
      bin('mcp-inspector'),
      '--cli',
      ...target,
      '--method',
      'tools/list',
      '--strict',
    ]);
    console.log(`inspector, ${name}: ${/\d+ errors?, .*/.exec(stderr)?.[0] ?? `exit ${code}`}`);
    if (code !== 0) failed.push(`inspector, ${name}: exit ${code}`);
  }
  for (const one of failed) console.log(`FAILED ${one}`);
  process.exitCode = failed.length === 0 ? 0 : 1;
} finally {
  relay.close();
  relay.closeAllConnections();
  server.kill('SIGTERM');
  await once(server, 'exit');
  rmSync(place, { recursive: true, force: true });
}

function install() {
  const own = `node-${process.platform}-${process.arch}`;
  const packages = [
    `${own}@22`,
    '@modelcontextprotocol/conformance@0.2.0-alpha.12',
    '@modelcontextprotocol/inspector@2.12.0',
  ];
  mkdirSync(folder, { recursive: true });
  const path = join(folder, 'node_modules', own, 'bin', 'node');
  if (!existsSync(path) || !existsSync(bin('mcp-inspector'))) {
    const args = ['install', '--ignore-scripts', '--no-audit', '--no-fund', '--prefix', folder, ...packages];
    const { status } = spawnSync('npm', args, { stdio: 'inherit' });
    if (status !== 0) throw new Error('The conformance suite could not be installed.');
  }
  return path;
}

function bin(name) {
  return join(folder, 'node_modules', '.bin', name);
}

// Replaces the relay's own address in `host` and `origin` by the server's; foreign addresses stay, so that they are refused.
async function openRelay(target, token) {
  relay.on('request', (asked, reply) => {
    const { port } = relay.address();
    const toTarget = (text) =>
      text?.replace(new RegExp(`(?:localhost|127\\.0\\.0\\.1):${port}$`), target.host);
    const { host, origin, ...headers } = asked.headers;
    const sent = {
      ...headers,
      host: toTarget(host),
      ...(origin && { origin: toTarget(origin) }),
      authorization: `Bearer ${token}`,
    };
    const { url: path, method } = asked;
    const forwarded = request(
      { host: '127.0.0.1', port: target.port, path, method, headers: sent },
      (answer) => {
        reply.writeHead(answer.statusCode, answer.headers);
        answer.pipe(reply);
      },
    );
    forwarded.on('error', () => reply.destroy());
    reply.on('close', () => forwarded.destroy());
    asked.pipe(forwarded);
  });
  await once(relay.listen(0, '127.0.0.1'), 'listening');
  return `http://localhost:${relay.address().port}/mcp`;
}

async function runSuite(url, version) {
  const results = join(place, version);
  await run([
    bin('conformance'),
    'server',
    '--url',
    url,
    '--spec-version',
    version,
    '--suite',
    'all',
    '-o',
    results,
  ]);
  const checks = readdirSync(results).flatMap((scenario) =>
    JSON.parse(readFileSync(join(results, scenario, 'checks.json'), 'utf8')).map((check) => ({
      ...check,
      scenario,
    })),
  );
  const count = (status) => checks.filter((check) => check.status === status).length;
  const bad = checks.filter(({ status }) => status === 'FAILURE');
  const ours = bad.filter(
    ({ scenario, errorMessage = '' }) =>
      !notApplicable.test(errorMessage) && !notApplicableScenarios.test(scenario),
  );
  console.log(
    `conformance, ${version}: ${count('SUCCESS')} passed, ${ours.length} failed, ${count('WARNING')} warnings, ${bad.length - ours.length} not applicable`,
  );
  if (count('SUCCESS') === 0) return [`conformance, ${version}: nothing was checked`];
  return ours.map(({ scenario, errorMessage }) => `${version} ${scenario}: ${errorMessage}`);
}

async function run(args) {
  const path = `${join(node, '..')}:${process.env.PATH}`;
  const child = spawn(node, args, {
    cwd: place,
    env: { ...env, PATH: path },
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  let stderr = '';
  child.stderr.on('data', (data) => {
    stderr += data;
  });
  const [code] = await once(child, 'close');
  return { code, stderr };
}
