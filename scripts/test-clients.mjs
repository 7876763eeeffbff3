// `npm run test:clients [-- CLIENT...]`: drives real clients against nacre (docs/decisions/0018-real-clients.md):
// 1. install the packages in tests/clients/packages.json into a cache outside the project, with the network as it is,
// 2. run the tests in a network namespace that has nothing but loopback, so that no client can reach anything else.
// `npm run test:clients -- --record` also writes docs/clients.md and the measured sizes.
import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { homedir, tmpdir } from 'node:os';
import { join } from 'node:path';
import { writeClientsPage } from './clients-page.mjs';
import { buildIfChanged, checkMachine, installPackages, isOnPath, runForeground } from './set-up.mjs';

const platform = `${process.platform}-${process.arch}`;
const all = JSON.parse(readFileSync('tests/clients/packages.json', 'utf8'));
const words = process.argv.slice(2);
const isRecording = words.includes('--record');
const named = words.filter((word) => !word.startsWith('--'));
const unknown = named.find((name) => !Object.hasOwn(all, name));
if (unknown !== undefined) stop(`There is no client ${unknown}; known: ${Object.keys(all).join(', ')}`);

checkMachine();
await installPackages();
await buildIfChanged();
const cache = findCache();
const names = (named.length > 0 ? named : Object.keys(all)).filter((name) =>
  isReady(name, all[name].packages),
);
if (names.length === 0) skip('none of the clients could be installed');
const files = names.map((name) => `tests/clients/${name}.test.ts`);
const vitest = [
  'node_modules/vitest/vitest.mjs',
  'run',
  '--config',
  'tests/clients/vitest.config.ts',
  ...files,
];
const env = { ...process.env, NACRE_TEST_CLIENTS: cache, ...(isRecording && { NACRE_RECORD_CLIENTS: '1' }) };
const [program, ...args] = onLoopbackOnly([process.execPath, ...vitest]);
const { status } = await runForeground(program, args, { env });
if (isRecording) writeClientsPage();
process.exitCode = status ?? 1;

function findCache() {
  const base = process.env.XDG_CACHE_HOME || join(homedir(), '.cache');
  for (const folder of [join(base, 'nacre-test-clients'), join(tmpdir(), 'nacre-test-clients')])
    try {
      mkdirSync(folder, { recursive: true });
      return folder;
    } catch {
      // A home directory may be missing or read-only.
    }
  return stop('There is no folder in which the clients can be installed.');
}

function isReady(name, wanted) {
  const packages = wanted.map((one) => one.replace('PLATFORM', platform));
  const folder = join(cache, name);
  const mark = join(folder, 'installed.json');
  const text = JSON.stringify(packages);
  if (existsSync(mark) && readFileSync(mark, 'utf8') === text) return true;
  console.log(`> Installing ${packages.join(' ')}`);
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder);
  const options = ['--ignore-scripts', '--no-audit', '--no-fund', '--no-save', '--loglevel=error'];
  const { status, stderr } = spawnSync('npm', ['install', ...options, '--prefix', folder, ...packages], {
    encoding: 'utf8',
    timeout: 300_000,
  });
  if (status === 0) writeFileSync(mark, text);
  else console.log(`Skipped ${name}: its packages could not be installed.\n${stderr}`);
  return status === 0;
}

// An ordinary user needs a user namespace for this; the capabilities in it are only used to bring loopback up.
function onLoopbackOnly(command) {
  if (!isOnPath('unshare') || !isOnPath('ip')) skip('unshare (util-linux) or ip (iproute2) is missing');
  const isRoot = process.getuid() === 0;
  const user = isRoot ? [] : ['--user', '--map-current-user', '--keep-caps'];
  if (spawnSync('unshare', [...user, '--net', 'true']).status !== 0)
    skip('this machine forbids network namespaces');
  const drop = isRoot ? '' : 'setpriv --ambient-caps=-all --inh-caps=-all --';
  return [
    'unshare',
    ...user,
    '--net',
    'sh',
    '-c',
    `ip link set lo up && exec ${drop} "$@"`,
    'sh',
    ...command,
  ];
}

function skip(reason) {
  console.log(`The tests with real clients were skipped: ${reason}.`);
  process.exit(0);
}

function stop(message) {
  console.error(message);
  process.exit(1);
}
