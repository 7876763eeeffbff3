// `npm run test:nodes [TEST...]`: runs the test suite on every supported Node.js version, one after the other.
// Versions other than the current one are installed from npm into node_modules/.cache/nodes.
import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync } from 'node:fs';
import { delimiter, dirname, join, resolve } from 'node:path';
import { checkMachine, installPackages } from './set-up.mjs';
import { installTestPrograms } from './test-programs.mjs';

const majors = ['20', '22', '24'];

checkMachine();
await installTestPrograms();
await installPackages();
const results = majors.map((major) => ({ major, ...test(toNode(major), process.argv.slice(2)) }));
console.log();
for (const { version, passed } of results) console.log(`${version}: ${passed ? 'passed' : 'FAILED'}`);
process.exitCode = results.every(({ passed }) => passed) ? 0 : 1;

function toNode(major) {
  if (process.versions.node.startsWith(`${major}.`)) return process.execPath;
  const name = `node-${process.platform}-${process.arch}`;
  const folder = resolve('node_modules/.cache/nodes', major);
  const path = join(folder, 'node_modules', name, 'bin', 'node');
  if (existsSync(path)) return path;
  mkdirSync(folder, { recursive: true });
  const args = [
    'install',
    '--ignore-scripts',
    '--no-audit',
    '--no-fund',
    '--prefix',
    folder,
    `${name}@${major}`,
  ];
  const { status } = spawnSync('npm', args, { stdio: 'inherit' });
  if (status !== 0 || !existsSync(path)) throw new Error(`Node.js ${major} could not be installed from npm.`);
  return path;
}

function test(node, files) {
  const version = spawnSync(node, ['--version'], { encoding: 'utf8' }).stdout.trim();
  console.log(`\n> Tests on Node.js ${version}`);
  // Put this version first on `PATH`, so that child processes that run `node` use it as well.
  const env = { ...process.env, PATH: `${dirname(node)}${delimiter}${process.env.PATH}` };
  const { status } = spawnSync(node, [resolve('node_modules/vitest/vitest.mjs'), 'run', ...files], {
    stdio: 'inherit',
    env,
  });
  return { version, passed: status === 0 };
}
