// Installs missing npm packages, and missing programs if this runs as root on Debian.
import { spawnSync } from 'node:child_process';
import { accessSync, constants, existsSync, readFileSync, statSync } from 'node:fs';
import { delimiter, join } from 'node:path';

/** The programs that nacre or its tests need, with the Debian package of each. */
const programs = {
  bash: 'bash',
  bwrap: 'bubblewrap',
  chromium: 'chromium',
  curl: 'curl',
  fish: 'fish',
  git: 'git',
  less: 'less',
  man: 'man-db',
  mkfifo: 'coreutils',
  openssl: 'openssl',
  ps: 'procps',
  python3: 'python3',
  setpriv: 'util-linux',
  setsid: 'util-linux',
  'ssh-keygen': 'openssh-client',
  'systemd-analyze': 'systemd',
  top: 'procps',
  unshare: 'util-linux',
  vim: 'vim',
  zsh: 'zsh',
};

/** Runs a program in the foreground; exits if it fails. */
export function step(title, program, args, options = {}) {
  console.log(`\n> ${title}`);
  const { status, error } = spawnSync(program, args, { stdio: 'inherit', ...options });
  if (status === 0) return;
  console.error(`\n${title} failed${error ? `: ${error.message}` : '.'}`);
  process.exit(status ?? 1);
}

/** Installs npm packages if they are missing or older than package-lock.json. */
export function installPackages() {
  const installed = 'node_modules/.package-lock.json';
  const fresh = existsSync(installed) && statSync(installed).mtimeMs >= statSync('package-lock.json').mtimeMs;
  if (!fresh) step('Installing npm packages', 'npm', ['ci', '--ignore-scripts', '--no-audit', '--no-fund']);
}

/**
 * Installs missing programs with apt-get as root on Debian. Otherwise prints what is missing, and how to install it, and
 * returns the Debian packages; tests that need them are skipped.
 */
export function installPrograms() {
  const missing = Object.keys(programs).filter((name) => !isOnPath(name));
  if (missing.length === 0) return [];
  const packages = [...new Set(missing.map((name) => programs[name]))];
  if (process.getuid?.() === 0 && isDebian()) {
    step('Updating the package list', 'apt-get', ['update', '-qq']);
    step(`Installing ${packages.join(', ')}`, 'apt-get', ['install', '-y', '-qq', ...packages]);
    return [];
  }
  console.log(
    `Missing programs: ${missing.join(', ')}. On Debian: sudo apt-get install ${packages.join(' ')}`,
  );
  return packages;
}

function isDebian() {
  return (
    existsSync('/etc/os-release') && /^ID(_LIKE)?=.*debian/m.test(readFileSync('/etc/os-release', 'utf8'))
  );
}

function isOnPath(name) {
  return (process.env.PATH ?? '').split(delimiter).some((folder) => {
    try {
      accessSync(join(folder, name), constants.X_OK);
      return true;
    } catch {
      return false;
    }
  });
}
