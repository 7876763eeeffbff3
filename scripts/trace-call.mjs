// `npm run trace`: prints the source files whose functions one warm `execute_command` enters, with their numbers of lines.
// 1. esbuild compiles every source file to its own module, 2. a server runs them with V8's precise coverage,
// 3. some calls warm it up, then the functions of one more call are counted.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { cpSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';

const root = fileURLToPath(new URL('..', import.meta.url));
const out = join(root, 'node_modules/.cache/trace');
const home = mkdtempSync(join(tmpdir(), 'nacre-trace-'));

await compile();
const files = await traceCall();
for (const { file, lines } of files) console.log(`${String(lines).padStart(4)}  ${file}`);
console.log(`${files.length} files, ${files.reduce((sum, { lines }) => sum + lines, 0)} lines`);
rmSync(home, { recursive: true, force: true });

async function compile() {
  rmSync(out, { recursive: true, force: true });
  mkdirSync(out, { recursive: true });
  cpSync(join(root, 'package.json'), join(out, 'package.json'));
  const sources = readdirSync(join(root, 'src'), { recursive: true, encoding: 'utf8' });
  const modules = sources.filter((path) => path.endsWith('.ts') && !path.endsWith('.test.ts'));
  const entryPoints = modules.map((path) => `src/${path}`);
  const options = { outbase: 'src', outdir: join(out, 'src'), format: 'esm', target: 'node20.19' };
  await build({ ...options, absWorkingDir: root, entryPoints, platform: 'node' });
  for (const path of modules) {
    const module = join(out, 'src', path.replace(/\.ts$/, '.js'));
    const text = readFileSync(module, 'utf8');
    writeFileSync(module, text.replace(/((?:from|import)\s*\(?\s*)"(\.{1,2}\/[^"]+)\.ts"/g, '$1"$2.js"'));
  }
  writeFileSync(join(out, 'coverage.mjs'), `(${collectCoverage})(${JSON.stringify(out)});\n`);
}

/** Runs in the server: each SIGUSR2 writes the functions entered since the one before, and resets the counts. */
async function collectCoverage(folder) {
  const { Session } = await import('node:inspector/promises');
  const { writeFileSync } = await import('node:fs');
  const session = new Session();
  session.connect();
  await session.post('Profiler.enable');
  await session.post('Profiler.startPreciseCoverage', { callCount: true, detailed: false });
  process.on('SIGUSR2', async () => {
    const { result } = await session.post('Profiler.takePreciseCoverage');
    const entered = result.filter(({ functions }) => functions.some(({ ranges }) => ranges[0].count > 0));
    writeFileSync(`${folder}/entered.json`, JSON.stringify(entered.map(({ url }) => url)));
    process.stderr.write('coverage taken\n');
  });
}

async function traceCall() {
  const args = ['--import', join(out, 'coverage.mjs'), join(out, 'src/cli.js'), 'mcp'];
  const env = { PATH: process.env.PATH, HOME: home, ALLOWED_COMMANDS: 'echo,wc' };
  const server = spawn(process.execPath, args, { cwd: home, env });
  const replies = createInterface({ input: server.stdout });
  const request = async (method, params) => {
    server.stdin.write(`${JSON.stringify({ jsonrpc: '2.0', id: 1, method, params })}\n`);
    await once(replies, 'line');
  };
  const call = () =>
    request('tools/call', { name: 'execute_command', arguments: { command: 'echo hi | wc -c' } });
  const takeCoverage = async () => {
    server.kill('SIGUSR2');
    for await (const [chunk] of on(server.stderr)) if (String(chunk).includes('coverage taken')) return;
  };
  const clientInfo = { name: 'trace', version: '1' };
  await request('initialize', { protocolVersion: '2025-11-25', capabilities: {}, clientInfo });
  server.stdin.write('{"jsonrpc":"2.0","method":"notifications/initialized"}\n');
  for (let round = 0; round < 4; round += 1) {
    await call();
    await new Promise((resolve) => setTimeout(resolve, 500));
  }
  await takeCoverage();
  await call();
  await takeCoverage();
  server.stdin.end();
  await once(server, 'exit');
  const prefix = `file://${out}/src/`;
  return JSON.parse(readFileSync(join(out, 'entered.json'), 'utf8'))
    .filter((url) => url.startsWith(prefix))
    .map((url) => `src/${url.slice(prefix.length).replace(/\.js$/, '.ts')}`)
    .map((file) => ({ file, lines: readFileSync(join(root, file), 'utf8').split('\n').length - 1 }));
}

async function* on(stream) {
  for (;;) yield await once(stream, 'data');
}
