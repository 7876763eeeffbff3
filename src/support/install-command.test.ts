import { expect, test } from 'vitest';
import { thisSystem, toInstallCommand } from './install-command.ts';

test.each([
  ['ID=debian\n', 'sudo apt-get install bubblewrap'],
  ['NAME="Linux Mint"\nID=mint\nID_LIKE="ubuntu debian"\n', 'sudo apt-get install bubblewrap'],
  ['ID="rocky"\nID_LIKE="rhel centos fedora"\n', 'sudo dnf install bubblewrap'],
  ['ID=alpine\n', 'sudo apk add bubblewrap'],
  ["ID='arch'\n", 'sudo pacman -S bubblewrap'],
  ['ID="opensuse-leap"\nID_LIKE="suse opensuse"\n', 'sudo zypper install bubblewrap'],
  ['ID=unheard\n', 'Install bubblewrap'],
  ['', 'Install bubblewrap'],
])('%j', (osRelease, command) => {
  expect(toInstallCommand('bubblewrap', { platform: 'linux', osRelease, isRoot: false })).toBe(command);
});

test('root needs no sudo, and macOS has brew', () => {
  const osRelease = 'ID=debian\n';
  expect(toInstallCommand('git', { platform: 'linux', osRelease, isRoot: true })).toBe('apt-get install git');
  expect(toInstallCommand('git', { platform: 'darwin', osRelease: '', isRoot: false })).toBe(
    'brew install git',
  );
});

test('this machine is read without an error', () => {
  expect(thisSystem().platform).toBe(process.platform);
});
