import type { ProgramCall } from '../options/program-call.ts';
import { type Arg, prefixOf, wordText } from '../words/arg.ts';
import { describeDevice } from '../words/devices.ts';
import type { DangerFound, DangerRule } from './danger-rule.ts';

/** Disk tools such as `mkfs` and `wipefs` that format or overwrite a device. */
export const diskRules: readonly DangerRule[] = [
  {
    rule: 'device_write',
    programs: ['mknod'],
    test: ({ args }) => {
      const words = args.map(wordText);
      const kind = words.indexOf('b');
      // The major numbers of disks: 8 is SCSI, 259 is NVMe, and 252 to 254 are usually virtual disks.
      const isDiskNumber = kind > 0 && /^(?:3|8|65|252|253|254|259)$/.test(words[kind + 1] ?? '');
      const [at] = args;
      return isDiskNumber && at ? { at, reason: 'it makes a disk accessible under another name' } : undefined;
    },
    matches: ['mknod x b 8 0', 'mknod -m 666 /tmp/d b 259 0'],
    spares: ['mknod pipe p', 'mknod -m 666 dev/null c 1 3', 'mknod /dev/loop0 b 7 0'],
  },
  {
    rule: 'format',
    programs: /^(?:mkfs(?:\..+)?|mke2fs|mkdosfs|mkntfs|newfs(?:_.+)?|mkswap|mkudffs|mkisofs\.disk)$/,
    test: testFormat,
    matches: [
      'mkfs.ext4 /dev/sda1',
      'mkfs -t ext4 /dev/sdb',
      'sudo mkfs.xfs -f /dev/nvme0n1',
      'mkfs.btrfs "$DISK"',
      'mke2fs /dev/sda',
      'env mkfs.vfat /dev/sdc',
      'mkswap /dev/sda2',
    ],
    spares: [
      'mkswap /swapfile',
      'mkfs.ext4 -F build/disk.img',
      'mkfs.ext4 --help',
      'mkfs -V',
      'echo mkfs.ext4 /dev/sda1',
      'man mkfs',
      'mkfs.ext4 -h',
    ],
  },
  {
    rule: 'device_write',
    programs: [
      'wipefs',
      'shred',
      'blkdiscard',
      'fallocate',
      'sgdisk',
      'sfdisk',
      'fdisk',
      'gdisk',
      'cfdisk',
      'cgdisk',
      'bmaptool',
      'qemu-img',
      'dd_rescue',
      'partclone.restore',
      'parted',
      'hdparm',
      'badblocks',
      'cryptsetup',
      'pvcreate',
      'pvremove',
      'vgremove',
      'lvremove',
      'mdadm',
      'nvme',
      'diskutil',
      'zpool',
      'wipe',
      'nwipe',
      'scrub',
      'dcfldd',
      'ddrescue',
      'partprobe',
      'e2fsck',
      'fsck',
      'tune2fs',
      ...[
        'cpio',
        'zstd',
        'mksquashfs',
        'genisoimage',
        'mkisofs',
        'xorriso',
        'debugfs',
        'dc3dd',
        'e2image',
        'ntfsclone',
        'sg_format',
        'sg_sanitize',
        'scp',
        'rsync',
      ],
    ],
    test: testDiskTool,
    matches: [
      'wipefs -a /dev/sda',
      'wipefs --all --force /dev/sdb',
      'shred -n 1 /dev/sda',
      'blkdiscard /dev/nvme0n1',
      'fallocate -p -o 0 -l 1G /dev/sda',
      'sgdisk --zap-all /dev/sda',
      'parted -s /dev/sda mklabel gpt',
      'badblocks -w /dev/sdb',
      'cryptsetup luksFormat /dev/sda2',
      'hdparm --security-erase x /dev/sda',
      'mdadm --zero-superblock /dev/sda1',
      'diskutil eraseDisk JHFS+ x /dev/disk2',
      'nvme format /dev/nvme0n1',
      'zpool create tank /dev/sdb',
      'tune2fs -O ^has_journal /dev/sda1',
      'fdisk /dev/sda',
      'gdisk /dev/sda',
      'parted -s /dev/sda print rm 1',
      'qemu-img convert x.img -O raw /dev/sda',
      'sfdisk /dev/sda < table',
      'pvcreate /dev/sd"$x"',
      'pvremove -ff /dev/sda',
      'cpio -o --file=/dev/sda',
      'cpio -oO /dev/sda',
      'zstd -d img.zst -o /dev/sda',
      'mksquashfs src /dev/sda',
      'debugfs -w /dev/sda1',
      'genisoimage -o /dev/sr0 src',
      'scp x host:/dev/sda',
      'sg_format --format /dev/sda',
    ],
    spares: [
      'wipefs /dev/sda',
      'shred secret.txt',
      'fdisk -l /dev/sda',
      'parted /dev/sda print',
      'parted -l',
      'gdisk -l /dev/sda',
      'qemu-img info /dev/sda',
      'hdparm -I /dev/sda',
      'badblocks /dev/sdb',
      'cryptsetup status x',
      'sfdisk -d /dev/sda',
      'mdadm --detail /dev/md0',
      'fsck -n /dev/sda1',
      'e2fsck -f /dev/sda1',
      'partprobe /dev/sda',
      'nvme list',
      'nvme smart-log /dev/nvme0n1',
      'zpool status',
      'tune2fs -l /dev/sda1',
      'sgdisk -p /dev/sda',
      'sgdisk --info=1 /dev/sda',
      'diskutil list /dev/disk2',
      'diskutil info disk2',
      'cpio -iF /dev/sda',
      'zstd /dev/sda -o disk.zst',
      'debugfs -R stats /dev/sda1',
      'ntfsclone -o disk.img /dev/sda1',
      'scp host:/dev/sda disk.img',
    ],
  },
];

function testFormat(call: ProgramCall): DangerFound | undefined {
  const asksForHelp = call.args.every((arg) => /^(?:-h|-V|-\?|--help|--version)$/.test(wordText(arg)));
  return asksForHelp || call.args.some(isImageFile)
    ? undefined
    : {
        at: call.args.at(-1) ?? call.self,
        reason: 'it creates a new file system, which erases the existing data',
      };
}

/** Returns true for a swap file or the image of a file system, which is no device. */
function isImageFile({ text }: Arg): boolean {
  return (
    text !== undefined && /^(?!-|.*\/dev\/|.*\.\.)(?:.*\.(?:img|raw|ext[234])|.*\/?swap-?file)$/.test(text)
  );
}

/** For each program, returns true if these words only read the device, as `fdisk -l` does. */
const readsOnly: Readonly<Record<string, (words: readonly string[]) => boolean>> = {
  wipefs: (words) => !words.some((word) => /^(?:-[b-np-z]*[ao]|--all?$|--of)/.test(word)),
  sgdisk: (words) =>
    words.every((word) => /^(?:-[pvifFED]\d*|--print|--info.*|--verify|\/dev.*)$/.test(word)),
  sfdisk: (words) =>
    words.some((word) => /^(?:-[dlJsFVq]+|--dump|--list.*|--json|--verify|--show-.*)$/.test(word)),
  fdisk: (words) => words.some((word) => /^(?:-[a-zA-Z]*[lsx]|--list.*|--getsz)$/.test(word)),
  parted: (words) =>
    !words.some((word) => /^(?:mk|rm$|resize|rescue|set$|toggle|name$|disk_)/.test(word)) &&
    words.some((word) => /^(?:print|p|-l|--list|unit|check|align-check)$/.test(word)),
  gdisk: (words) => words.includes('-l'),
  'qemu-img': (words) => !/^(?:convert|dd|create|resize|rebase|commit)$/.test(words[0] ?? ''),
  hdparm: (words) =>
    !words.some((word) =>
      /^--(?:security-(?:erase|set-pass).*|trim-sector.*|write-sector|repair-sector|make-bad-sector|fwdownload.*|yes-i-know.*|please-destroy.*)$/.test(
        word,
      ),
    ),
  badblocks: (words) => !words.some((word) => /^-[a-z]*[wn]/.test(word)),
  cryptsetup: (words) =>
    !words.some((word) => /^(?:luksFormat|erase|luksErase|reencrypt.*|format)$/.test(word)),
  mdadm: (words) => !words.some((word) => /^(?:--zero-superblock|--create|-C.*|--build|-B)$/.test(word)),
  nvme: (words) => !words.some((word) => /^(?:format|sanitize|write|write-zeroes|delete-ns|dsm)$/.test(word)),
  diskutil: (words) =>
    !words.some((word) => /^(?:erase|zero|random|secureErase|partition|reformat|delete)/i.test(word)),
  zpool: (words) => !words.some((word) => /^(?:create|labelclear|destroy)$/.test(word)),
  tune2fs: (words) => words.includes('-l'),
  cpio: (words) => !words.some((word) => /^(?:-[a-zA-Z]*[oO]|--create)/.test(word)),
  zstd: (words) => !writesTo(words, /^-o$/),
  mksquashfs: (words) => !words.slice(1, 2).some(isDisk),
  genisoimage: (words) => !writesTo(words, /^-(?:o|output)$/),
  mkisofs: (words) => !writesTo(words, /^-(?:o|output)$/),
  xorriso: (words) => !writesTo(words, /^-?-(?:o|outdev|dev|output)$/),
  debugfs: (words) => !words.some((word) => /^-[a-zA-Z]*w/.test(word)),
  e2image: (words) => !words.slice(-1).some(isDisk),
  ntfsclone: (words) => !writesTo(words, /^(?:-O|--overwrite)$/),
  scp: (words) => !isDisk(targetPath(words)),
  rsync: (words) => !isDisk(targetPath(words)),
  fsck: () => true,
  e2fsck: () => true,
  partprobe: () => true,
};

function isDisk(word: string): boolean {
  return describeDevice(word) !== undefined;
}

/** The path in the last word, without a host before it (`HOST:/dev/sda`). */
function targetPath(words: readonly string[]): string {
  return (words.at(-1) ?? '').replace(/^[^/:]{1,255}::?(?=\/)/, '');
}

/** True if a device follows an option that names the output. */
function writesTo(words: readonly string[], option: RegExp): boolean {
  return words.some((word, at) => isDisk(word) && option.test(words[at - 1] ?? ''));
}

function testDiskTool(call: ProgramCall): DangerFound | undefined {
  const words = call.args.map((arg) => wordText(arg));
  if (readsOnly[call.name]?.(words)) return undefined;
  // `diskutil` also accepts the name of a disk without its folder.
  const isNamed = (arg: Arg): boolean => call.name === 'diskutil' && /^r?disk\d/.test(wordText(arg));
  const at = call.args.findLast((arg) => isDevice(arg) || isNamed(arg));
  return at && { at, reason: `${call.name} overwrites the disk device ${at.text ?? prefixOf(at)}` };
}

function isDevice(arg: Arg): boolean {
  const text = arg.text ?? prefixOf(arg);
  return (
    describeDevice(text.replace(/^(?:(?:of|output|--?[a-z-]+)=|[^/:]{1,255}::?(?=\/))/, '')) !== undefined
  );
}
