// Compares how nacre and other tools run the same commands: node bench/compare/compare.mjs
// Installs the other tools from npm into a temporary folder, runs each scenario with each contender, and prints a table of
// the results. Each command contains a `sleep` of a unique length, by which processes that it leaves running are
// found and killed.
import { spawnSync } from 'node:child_process';
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createContenders, versions } from './contenders.mjs';

const timeLimitMs = 15_000;

const scenarios = [
  { title: 'a background child: `sleep & echo started`', script: (mark) => `sleep ${mark} & echo started` },
  {
    title: 'a timeout of 2 s: `sleep & sleep`',
    script: (mark) => `sleep ${mark} & sleep ${mark}`,
    timeoutMs: 2_000,
  },
  {
    title: 'a daemon: `setsid sleep & echo started`',
    script: (mark) => `setsid sleep ${mark} >/dev/null 2>&1 & echo started`,
  },
  { title: 'a command that reads stdin: `cat; echo done`', script: () => 'cat; echo done' },
  { title: '20 MB of output: `seq 2600000`', script: () => 'seq 2600000' },
  { title: 'an exit code: `echo out; echo err >&2; exit 3`', script: () => 'echo out; echo err >&2; exit 3' },
];

const folder = mkdtempSync(join(tmpdir(), 'nacre-compare-'));
try {
  install(folder);
  const contenders = await createContenders(folder);
  console.log(`Node ${process.version}, ${versions(folder)}\n`);
  for (const { title, script, timeoutMs } of scenarios) {
    console.log(`## ${title}\n\n| | returned after | left running | result |\n|---|---|---|---|`);
    for (const contender of contenders) console.log(await observe(contender, script, timeoutMs));
    console.log();
  }
  for (const { close } of contenders) await close();
} finally {
  rmSync(folder, { recursive: true, force: true });
}
process.exit();

function install(prefix) {
  const given = process.env.NACRE_COMPARE_MODULES;
  if (given) return spawnSync('cp', ['-r', given, prefix]);
  const wanted = ['execa@9', 'mcp-server-commands@0.5.0'];
  const flags = ['--ignore-scripts', '--no-audit', '--no-fund', '--prefix', prefix];
  return spawnSync('npm', ['install', ...flags, ...wanted], { stdio: 'inherit' });
}

async function observe({ name, run }, script, timeoutMs) {
  const mark = `${7_000 + Math.floor(Math.random() * 1_000)}.${process.pid}`;
  const start = performance.now();
  const timeLimit = new Promise((resolve) => setTimeout(resolve, timeLimitMs, null).unref());
  const result = await Promise.race([
    run(script(mark), timeoutMs).catch((error) => describeError(error)),
    timeLimit,
  ]);
  const seconds = ((performance.now() - start) / 1_000).toFixed(1);
  await new Promise((resolve) => setTimeout(resolve, 500));
  const left = sleepersOf(mark);
  for (const pid of left) process.kill(pid, 'SIGKILL');
  const waited = result === null ? `not within ${timeLimitMs / 1_000} s` : `${seconds} s`;
  return `| ${name} | ${waited} | ${left.length === 0 ? 'nothing' : `${left.length} processes`} | ${result ?? ''} |`;
}

function describeError(error) {
  return `error: ${String(error.shortMessage ?? error.message ?? error)
    .split('\n')[0]
    .replace(/7\d{3}\.\d+/g, 'N')
    .slice(0, 90)}`;
}

function sleepersOf(mark) {
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .filter((pid) => commandLine(pid) === `sleep\0${mark}\0`)
    .map(Number);
}

function commandLine(pid) {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, 'utf8');
  } catch {
    return '';
  }
}
