// The npm packages that building and serving need. All others are for tests: four fifths of the bytes.
import { existsSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { hasPackages, installPackages, step } from './set-up.mjs';

const bundled = [
  '@modelcontextprotocol/server',
  '@preact/signals',
  '@xterm/headless',
  '@xterm/xterm',
  'preact',
  'unbash',
  'ws',
  'yaml',
  'zod',
];
const compiling = ['@opentelemetry/api', '@types/node', '@types/ws', 'esbuild', 'typescript'];

/** Installs the packages that the build needs, in the versions of package-lock.json, unless they are there. */
export async function installBuildPackages() {
  const project = readProject();
  const build = toBuildProject(project);
  if (hasPackages(build.lock.packages)) return;
  // An outdated installation with the packages of the tests is replaced as a whole.
  if (existsSync('node_modules/vitest')) return installPackages();
  const folder = join('node_modules', '.build-packages');
  rmSync('node_modules', { recursive: true, force: true });
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, 'package.json'), JSON.stringify(build.manifest));
  writeFileSync(join(folder, 'package-lock.json'), JSON.stringify(build.lock));
  const flags = ['--ignore-scripts', '--no-audit', '--no-fund'];
  await step('Installing npm packages', 'npm', ['ci', ...flags, '--prefix', folder]);
  const installed = join(folder, 'node_modules');
  for (const name of readdirSync(installed)) renameSync(join(installed, name), join('node_modules', name));
  rmSync(folder, { recursive: true });
}

/** Reads package.json and package-lock.json. */
export function readProject() {
  const read = (path) => JSON.parse(readFileSync(path, 'utf8'));
  return { manifest: read('package.json'), lock: read('package-lock.json') };
}

/** The manifest and the lock file, reduced to what the build needs. */
export function toBuildProject({ manifest, lock }) {
  const { name, version, devDependencies, optionalDependencies } = manifest;
  const wanted = Object.fromEntries([...bundled, ...compiling].map((one) => [one, devDependencies[one]]));
  const reduced = { name, version, devDependencies: wanted, optionalDependencies };
  const paths = reachable(lock.packages, Object.keys({ ...wanted, ...optionalDependencies }));
  const packages = Object.fromEntries(paths.map((path) => [path, lock.packages[path]]));
  const { lockfileVersion } = lock;
  return {
    manifest: reduced,
    lock: { name, version, lockfileVersion, packages: { '': reduced, ...packages } },
  };
}

function reachable(packages, names) {
  const found = new Set();
  const visit = (path) => {
    if (path === undefined || found.has(path)) return;
    found.add(path);
    const { dependencies, optionalDependencies } = packages[path];
    for (const name of Object.keys({ ...dependencies, ...optionalDependencies }))
      visit(locate(packages, path, name));
  };
  for (const name of names) visit(locate(packages, '', name));
  return [...found].sort();
}

/** The lock file's path of the package that `name` means inside the package at `from`, as Node resolves it. */
function locate(packages, from, name) {
  const path = join(from, 'node_modules', name);
  if (packages[path] !== undefined) return path;
  return from === ''
    ? undefined
    : locate(packages, from.slice(0, Math.max(0, from.lastIndexOf('/node_modules/'))), name);
}
