import type { ProgramCall } from '../options/program-call.ts';
import { prefixOf, wordText } from '../words/arg.ts';
import type { DangerFound, DangerRule } from './danger-rule.ts';

/** Removing packages and accounts without which the system cannot start or login fails. */
export const essentialPackageRules: readonly DangerRule[] = [
  {
    rule: 'essential_package',
    programs: ['apt', 'apt-get', 'aptitude', 'dpkg', 'rpm', 'yum', 'dnf', 'zypper', 'pacman', 'apk'],
    test: testPackages,
    matches: [
      'apt-get remove -y --purge libc6',
      'sudo apt purge systemd',
      'dpkg -r --force-all bash',
      'dpkg --purge --force-all libc6:amd64',
      'rpm -e --nodeps glibc',
      'dnf -y erase systemd',
      'pacman -Rdd glibc',
      'apk del musl',
    ],
    spares: [
      'apt-get remove -y nodejs',
      'apt-get install -y libc6-dev bash',
      'apt-get -s remove libc6',
      'dpkg -l bash',
      'rpm -q glibc',
      'pacman -S bash',
      'apk add bash',
      'apt-cache show libc6',
    ],
  },
  {
    rule: 'essential_account',
    programs: ['userdel', 'deluser'],
    test: ({ args }) => {
      const at = args.find(({ text }) => text === 'root');
      return at && { at, reason: 'it deletes the account root' };
    },
    matches: ['userdel -r root', 'sudo deluser root'],
    spares: ['userdel -r bob', 'deluser bob'],
  },
];

const removing =
  /^(?:remove|purge|erase|autoremove|autopurge|uninstall|rm|del|-e|--erase|-P|--purge|-r|--remove|-R[a-z]*)$/;
const essential =
  /^(?:libc6|libc-bin|glibc|musl|systemd|systemd-sysv|init|bash|dash|coreutils|dpkg|apt|rpm|pacman|apk-tools|util-linux|base-files|base-passwd|login|passwd|filesystem|linux-image-[\w.+-]+|kernel|kernel-core|grub-pc|grub-common)(?::\w+)?$/;

function testPackages({ args }: ProgramCall): DangerFound | undefined {
  const words = args.map(wordText);
  const simulated = words.some((word) =>
    /^(?:-s|--simulate|--dry-run|--test|--no-act|-p|--print)$/.test(word),
  );
  const verb = words.findIndex((word) => removing.test(word));
  if (verb < 0 || simulated) return undefined;
  const at = args.find(
    (arg, index) => index > verb && !prefixOf(arg).startsWith('-') && essential.test(wordText(arg)),
  );
  return at && { at, reason: `it removes the package ${wordText(at)}, which the system needs` };
}
