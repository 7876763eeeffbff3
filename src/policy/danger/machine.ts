import type { ProgramCall } from '../options/program-call.ts';
import { type Arg, prefixOf, wordText } from '../words/arg.ts';
import type { DangerFound, DangerRule } from './danger-rule.ts';
import { findProtectedPlace, isEssentialFile } from './protected-places.ts';

/** Stopping the machine, hiding system directories under a mount, and deleting every cron job or volume. */
export const machineRules: readonly DangerRule[] = [
  {
    rule: 'power_off',
    programs: [
      ...['shutdown', 'reboot', 'halt', 'poweroff', 'kexec', 'init', 'telinit', 'systemctl', 'loginctl'],
      ...['rtcwake', 'pm-suspend', 'pm-hibernate', 'pm-suspend-hybrid'],
    ],
    test: testPower,
    matches: [
      'shutdown now',
      'sudo shutdown -h +1',
      'reboot',
      'sudo reboot -f',
      'halt -p',
      'poweroff',
      'init 0',
      'telinit 6',
      'kexec -e',
      'systemctl poweroff',
      'systemctl --force --force reboot',
      'systemctl isolate rescue.target',
      'loginctl reboot',
      'loginctl terminate-user root',
      'loginctl terminate-seat seat0',
      'systemctl -H host reboot',
      'systemctl default',
      "systemctl stop '*'",
      "systemctl kill -s KILL '*'",
      'systemctl kill --signal=9 init.scope',
      'rtcwake -m off -s 60',
      'pm-suspend',
    ],
    spares: [
      'shutdown -c',
      'shutdown --help',
      'reboot --help',
      'systemctl status reboot.target',
      'systemctl restart nginx',
      "systemctl stop 'app@*'",
      'systemctl kill -s HUP nginx',
      'systemctl -n 5 status reboot.target',
      'rtcwake -m show',
      'loginctl list-sessions',
      'man shutdown',
      'grep -r reboot .',
      'init --version',
    ],
  },
  {
    rule: 'power_off',
    programs: ['busctl', 'dbus-send', 'gdbus'],
    test: ({ args }) => {
      const at = args.find((arg) =>
        /(?:^|\.)(?:PowerOff|Reboot|Halt|KExec|Suspend|Hibernate)$/.test(wordText(arg)),
      );
      return at && { at, reason: 'it stops the machine' };
    },
    matches: [
      'busctl call org.freedesktop.login1 /org/freedesktop/login1 org.freedesktop.login1.Manager PowerOff b true',
      'dbus-send --system --dest=org.freedesktop.login1 /org/freedesktop/login1 org.freedesktop.login1.Manager.Reboot boolean:true',
    ],
    spares: ['busctl list', 'gdbus introspect --system --dest org.freedesktop.login1 --object-path /'],
  },
  {
    rule: 'mount_over',
    programs: ['mount', 'umount'],
    test: testMount,
    matches: [
      'mount -t tmpfs tmpfs /',
      'mount -t tmpfs none /etc',
      'mount --bind /dev/null /etc/passwd',
      'mount -B / /mnt',
      'mount --rbind / /mnt',
      'mount -o bind / /mnt',
      'umount -l /',
    ],
    spares: [
      'mount',
      'mount /dev/sdb1 /mnt',
      'mount -o remount,rw /',
      'mount --bind /dev /mnt/dev',
      'mount -t proc proc /mnt/proc',
      'mount -a',
      'umount /mnt',
      'mount -t tmpfs tmpfs /tmp',
    ],
  },
  {
    rule: 'mount_over',
    programs: ['ln'],
    test: (call) => {
      const [source, ...others] = call.args.filter((arg) => !prefixOf(arg).startsWith('-'));
      const isRoot = source !== undefined && findProtectedPlace(source, call.cwd, call.home)?.kind === 'root';
      return isRoot && others.length > 0
        ? { at: source, reason: 'it makes the root directory writable under another name' }
        : undefined;
    },
    matches: ['ln -s / x && rm -rf x/*', 'ln -sfn // root'],
    spares: ['ln -s /etc/hosts x', 'ln -s ../a b', 'ln -sf /srv/app current'],
  },
  {
    rule: 'delete_jobs',
    programs: ['crontab'],
    test: ({ args }) => {
      const at = args.find((arg) => /^(?:-[a-z]*r[a-z]*|\/dev\/null)$/.test(wordText(arg)));
      return at && { at, reason: 'it deletes every cron job of the user' };
    },
    matches: ['crontab -r', 'crontab /dev/null', 'crontab -ri', 'sudo crontab -u bob -r'],
    spares: ['crontab -l', 'crontab jobs.txt'],
  },
  {
    rule: 'delete_volume',
    programs: ['zpool', 'zfs', 'vgremove', 'lvremove', 'dmsetup', 'btrfs'],
    test: testVolume,
    matches: [
      'zpool destroy tank',
      'zfs destroy -r tank/home',
      'vgremove vg0',
      'lvremove -f vg0/root',
      'dmsetup remove_all',
      'dmsetup wipe_table root',
      'btrfs subvolume delete /',
    ],
    spares: [
      'zfs list',
      'zpool status',
      'lvremove --help',
      'dmsetup ls',
      'zfs snapshot tank@a',
      'btrfs subvolume list /',
    ],
  },
];

function testPower(call: ProgramCall): DangerFound | undefined {
  const words = call.args.map(wordText);
  const found = (at: Arg = call.self): DangerFound => ({ at, reason: 'it stops the machine' });
  if (/^(?:--help|--version|--wtmp-only|-w)$/.test(words.join(' '))) return undefined;
  switch (call.name) {
    case 'shutdown':
      return words.some((word) => /^(?:-[a-zA-Z]*c|--help|--version|--show|-k)$/.test(word))
        ? undefined
        : found();
    case 'init':
    case 'telinit':
      return wordLike(call.args, /^[0156sS]$/, found);
    case 'kexec':
      return wordLike(call.args, /^(?:-[a-z]*e|--exec|-f|--force)$/, found);
    case 'rtcwake':
      return wordLike(call.args, /^(?:off|mem|disk|standby|freeze|--mode=.*)$/, found);
    case 'systemctl':
    case 'loginctl':
      return powerVerb(call, words, found);
    default:
      return found();
  }
}

function wordLike(
  args: readonly Arg[],
  pattern: RegExp,
  found: (at: Arg) => DangerFound,
): DangerFound | undefined {
  const at = args.find((arg) => pattern.test(wordText(arg)));
  return at && found(at);
}

const stopping =
  /^(?:poweroff|reboot|halt|kexec|soft-reboot|exit|emergency|rescue|default|suspend|hibernate|hybrid-sleep|suspend-then-hibernate)$/;

/**
 * The subcommand is the first word that is neither an option nor the value of one. `isolate` stops every unit that its target does not
 * need.
 */
function powerVerb(
  call: ProgramCall,
  words: readonly string[],
  found: (at: Arg) => DangerFound,
): DangerFound | undefined {
  const verb = words.findIndex(
    (word, at) => !word.startsWith('-') && !/^-[HMtspnoP]$/.test(words[at - 1] ?? ''),
  );
  const at = call.args[verb];
  if (at === undefined || words.includes('--user')) return undefined;
  if (call.name === 'loginctl' && /^(?:(?:terminate|kill)-user|terminate-seat)$/.test(words[verb] ?? ''))
    return { at, reason: 'it ends every process of a user' };
  const ends = /^(?:stop|kill|restart|try-restart|disable|mask)$/.test(words[verb] ?? '');
  const every = ends ? call.args.slice(verb + 1).find(isEveryUnit) : undefined;
  if (every !== undefined) return { at: every, reason: 'it stops every unit of the machine' };
  const isolates =
    words[verb] === 'isolate' ||
    (/^(?:start|restart)$/.test(words[verb] ?? '') &&
      words.some((word) => stopping.test(word.replace(/\.target$/, ''))));
  return isolates || stopping.test(words[verb] ?? '') ? found(at) : undefined;
}

/** Returns true for a pattern of all units, and for units with every process, such as `init.scope`. */
function isEveryUnit({ text, pieces: [first] }: Arg): boolean {
  const pattern = text ?? (typeof first === 'object' ? first.text : '');
  return /^(?:[*?]+(?:\.(?:service|scope|slice))?|--all|init\.scope|-\.slice|system\.slice|user\.slice)$/.test(
    pattern,
  );
}

/** Directories that are meant to be mount points. */
const mountPoints = /^\/(?:mnt|media|tmp|run|proc|sys|dev|home|srv|opt|boot|var|nix)(?:\/|$)/;

function testMount(call: ProgramCall): DangerFound | undefined {
  const words = call.args.map(wordText);
  const operands = call.args.filter((arg, index) => {
    const before = words[index - 1] ?? '';
    return (
      !prefixOf(arg).startsWith('-') &&
      !/^(?:-[a-zA-Z]*[tToOLUN]|--(?:types|options|label|uuid|fstab|target-prefix))$/.test(before)
    );
  });
  const target = operands.at(-1);
  if (target === undefined || words.some((word) => /\bremount\b|^--make-/.test(word))) return undefined;
  const place = findProtectedPlace(target, call.cwd, call.home);
  if (call.name === 'umount')
    return place?.kind === 'root' ? { at: target, reason: 'it unmounts the root directory' } : undefined;
  const binds = words.some((word) => /^(?:-[a-zA-Z]*[BR]|--r?bind)$|(?:^|,)r?bind(?:,|$)/.test(word));
  const [source] = operands;
  if (
    binds &&
    source !== undefined &&
    operands.length > 1 &&
    findProtectedPlace(source, call.cwd, call.home)?.kind === 'root'
  )
    return { at: source, reason: 'it makes the root directory writable under another name' };
  const hides =
    operands.length > 1 &&
    ((place !== undefined && !mountPoints.test(place.path)) || isEssentialFile(target));
  return hides
    ? { at: target, reason: `it hides ${target.text ?? 'a system directory'} under a mount` }
    : undefined;
}

function testVolume(call: ProgramCall): DangerFound | undefined {
  const words = call.args.map(wordText);
  if (words.some((word) => /^(?:-h|--help|--version|-t|--test)$/.test(word))) return undefined;
  if (call.name === 'btrfs') {
    const deletes = /^subv/.test(words[0] ?? '') && /^del/.test(words[1] ?? '');
    const at = deletes
      ? call.args.slice(2).find((arg) => findProtectedPlace(arg, call.cwd, call.home))
      : undefined;
    return at && { at, reason: 'it deletes a system directory' };
  }
  const verbs = /^(?:destroy|labelclear|remove_all|wipe_table|rollback)$/;
  const at = /remove$/.test(call.name)
    ? call.args.find((arg) => !prefixOf(arg).startsWith('-'))
    : call.args.find((arg) => verbs.test(wordText(arg)));
  return at && { at, reason: `${call.name} deletes the data of a whole volume` };
}
