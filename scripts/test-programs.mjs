// The programs of the distribution that tests run. nacre itself needs only bash.
import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { isOnPath, step } from './set-up.mjs';

/** Programs that some tests need, with the Debian package of each. */
const programs = {
  bwrap: 'bubblewrap',
  chromium: 'chromium',
  curl: 'curl',
  dc: 'dc',
  fish: 'fish',
  git: 'git',
  ip: 'iproute2',
  less: 'less',
  man: 'man-db',
  mkfifo: 'coreutils',
  'mkfs.btrfs': 'btrfs-progs',
  'mkfs.xfs': 'xfsprogs',
  openssl: 'openssl',
  ps: 'procps',
  python3: 'python3',
  rg: 'ripgrep',
  rsync: 'rsync',
  setpriv: 'util-linux',
  setsid: 'util-linux',
  sshd: 'openssh-server',
  'ssh-keygen': 'openssh-client',
  'systemd-analyze': 'systemd',
  top: 'procps',
  unshare: 'util-linux',
  vim: 'vim',
  zsh: 'zsh',
};

/** Programs that `npm run test:machines` needs in addition: container engines and a cluster, which the tests start and stop. */
export const machinePrograms = {
  busybox: 'busybox-static',
  catatonit: 'catatonit',
  conmon: 'conmon',
  containerd: 'containerd',
  dockerd: 'docker.io',
  iptables: 'iptables',
  munged: 'munge',
  podman: 'podman',
  runc: 'runc',
  slurmctld: 'slurmctld',
  slurmd: 'slurmd',
  srun: 'slurm-client',
};

/** Programs that the cluster of `npm run test:kubernetes` needs in addition. */
export const kubernetesPrograms = {
  busybox: 'busybox-static',
  conntrack: 'conntrack',
  containerd: 'containerd',
  etcd: 'etcd-server',
  iptables: 'iptables',
  runc: 'runc',
  '/usr/lib/cni/bridge': 'containernetworking-plugins',
};

/** Programs and files that building that cluster needs. */
export const kubernetesBuildPrograms = {
  'dpkg-source': 'dpkg-dev',
  go: 'golang-go',
  make: 'make',
  rsync: 'rsync',
  '/usr/share/gocode/src/github.com/modern-go/reflect2': 'golang-github-modern-go-reflect2-dev',
};

/**
 * Installs the missing programs with apt-get as root on Debian, and prints before how many packages that are. Otherwise
 * prints what is missing and how to install it, and returns the Debian packages; tests that need them are skipped.
 */
export async function installTestPrograms(more = {}) {
  const wanted = { ...programs, ...more };
  const isThere = (name) => (name.startsWith('/') ? existsSync(name) : isOnPath(name));
  const missing = Object.keys(wanted).filter((name) => !isThere(name));
  if (missing.length === 0) return [];
  const packages = [...new Set(missing.map((name) => wanted[name]))];
  if (process.getuid?.() !== 0 || !isOnPath('apt-get')) {
    console.log(`Tests that need ${missing.join(', ')} are skipped.${howToInstall(packages)}`);
    return packages;
  }
  await step('Updating the package list', 'apt-get', ['update', '-qq']);
  console.log(`\nThe tests need ${missing.join(', ')}. ${describeInstall(packages)}`);
  await step('Installing them', 'apt-get', ['install', '-y', '-qq', ...lean, ...packages], {
    env: { ...process.env, ...startNoService },
  });
  return [];
}

const lean = ['--no-install-recommends'];
// In this runlevel Debian's packages do not start the services that they install.
const startNoService = { RUNLEVEL: '1', DEBIAN_FRONTEND: 'noninteractive' };

function howToInstall(packages) {
  return isOnPath('apt-get') ? ` To run them: sudo apt-get install ${[...lean, ...packages].join(' ')}` : '';
}

// `--assume-no` answers apt's question, so this installs nothing; its exit status is 1.
function describeInstall(packages) {
  const args = ['install', '--assume-no', ...lean, ...packages];
  const { stdout } = spawnSync('apt-get', args, { encoding: 'utf8', env: { ...process.env, LC_ALL: 'C' } });
  const find = (pattern) => pattern.exec(stdout)?.[1];
  const count = find(/(\d+) newly installed/) ?? 'an unknown number of';
  const download = find(/Need to get ([\d.,]+ \w+)/) ?? 'an unknown size';
  const disk = find(/After this operation, ([\d.,]+ \w+)/) ?? 'an unknown size';
  return `apt-get installs ${count} packages for them: ${download} to download, ${disk} on disk.`;
}
