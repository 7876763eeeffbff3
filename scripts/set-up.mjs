// Steps that `npm start` and `npm test` share: they need Node, npm and bash, and install nothing but npm packages.
import { spawn } from 'node:child_process';
import { accessSync, constants, existsSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { delimiter, join } from 'node:path';

/** Runs a program in the foreground, and passes signals on to it; exits if it fails. */
export async function step(title, program, args, options = {}) {
  console.log(`\n> ${title}`);
  const { status, error } = await runForeground(program, args, options);
  if (status === 0) return;
  console.error(`\n${title} failed${error ? `: ${error.message}` : '.'}`);
  process.exit(status ?? 1);
}

/** Runs a program with this terminal, and passes signals on to it, so that it does not outlive this process. */
export function runForeground(program, args, options = {}) {
  const child = spawn(program, args, { stdio: 'inherit', ...options });
  const forward = (signal) => child.kill(signal);
  for (const signal of signals) process.on(signal, forward);
  return new Promise((resolve) => {
    const end = (result) => {
      for (const signal of signals) process.off(signal, forward);
      resolve(result);
    };
    child.on('error', (error) => end({ status: null, error }));
    child.on('exit', (status) => end({ status }));
  });
}

const signals = ['SIGINT', 'SIGTERM', 'SIGHUP'];

/** Exits with the reason if this Node.js is too old, or if there is no bash. */
export function checkMachine() {
  const [, wanted] = /(\d+\.\d+)/.exec(JSON.parse(readFileSync('package.json', 'utf8')).engines.node);
  if (!isAtLeast(process.versions.node, wanted))
    stop(
      `nacre needs Node.js ${wanted} or newer, and this is ${process.version}: install it from nodejs.org.`,
    );
  if (!isOnPath('bash')) stop('nacre needs bash, and there is none on the PATH: install it.');
}

/** Installs npm packages unless all of those in package-lock.json are installed. */
export async function installPackages() {
  if (!hasPackages(readPackages('package-lock.json')))
    await step('Installing npm packages', 'npm', ['ci', '--ignore-scripts', '--no-audit', '--no-fund']);
}

/** Whether these packages of a lock file are installed, except optional ones, which may be for other platforms. */
export function hasPackages(wanted) {
  // npm writes this file last, but an interrupted `npm start` can leave it without some of the folders.
  const installed = readPackages('node_modules/.package-lock.json');
  return Object.entries(wanted).every(
    ([path, { version, optional }]) =>
      path === '' || optional || (installed[path]?.version === version && existsSync(path)),
  );
}

function readPackages(path) {
  return existsSync(path) ? JSON.parse(readFileSync(path, 'utf8')).packages : {};
}

/** Builds dist/ unless it is newer than everything that it is built from; a running nacre loads its files from there. */
export async function buildIfChanged() {
  // `build.mjs` writes this file last.
  const built = statSync('dist/THIRD_PARTY_NOTICES.md', { throwIfNoEntry: false });
  const inputs = ['src', 'examples', 'scripts', 'package.json', 'node_modules/.package-lock.json'];
  // ctime, because the mtime of an unpacked or copied file may be older than the build.
  const isFresh = built !== undefined && inputs.every((path) => newestChange(path) < built.ctimeMs);
  if (!isFresh) await step('Building', process.execPath, ['scripts/build.mjs']);
}

/** Whether a program is on the PATH. */
export function isOnPath(name) {
  return (process.env.PATH ?? '').split(delimiter).some((folder) => {
    try {
      accessSync(join(folder, name), constants.X_OK);
      return true;
    } catch {
      return false;
    }
  });
}

function newestChange(path) {
  const found = statSync(path);
  if (!found.isDirectory()) return found.ctimeMs;
  const inputs = readdirSync(path).filter((name) => !name.endsWith('.test.ts'));
  return Math.max(found.ctimeMs, ...inputs.map((name) => newestChange(join(path, name))));
}

function isAtLeast(version, wanted) {
  const [[major, minor], [wantedMajor, wantedMinor]] = [version, wanted].map((one) =>
    one.split('.').map(Number),
  );
  return major > wantedMajor || (major === wantedMajor && minor >= wantedMinor);
}

function stop(message) {
  console.error(message);
  process.exit(1);
}
