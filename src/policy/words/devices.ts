const disk =
  /^\/dev\/(?:sd[a-z]|hd[a-z]|vd[a-z]|xvd[a-z]|nvme\d|mmcblk\d|disk\d|rdisk\d|dm-\d|md\d|md\/|mapper\/|loop\d|nbd\d|sr\d|cdrom|dvd|fd\d+$|ram\d|zram\d|zd\d|zvol\/|drbd\d|bcache\d|pmem\d|mtd|mtdblock|ubi|disk\/|block\/|root$|vg|[a-z]*-?vg\d*\/|ada\d|da\d|nvd\d|wd\d)/;
const memory = /^\/dev\/(?:mem|kmem|port|nvram)$/;
const kernel = /^\/proc\/(?:sysrq-trigger|kcore)$/;

/** What stands behind a device file that must not be written, or undefined for any other path. */
export function deviceNamed(path: string): string | undefined {
  if (memory.test(path)) return 'the memory of the machine';
  if (kernel.test(path)) return 'a control of the running kernel';
  // A pattern, or a name whose end is not known.
  if (/^\/dev\/(?:[shv]d|xvd|nvme|mmcblk|disk)(?:$|[?*[])/.test(path)) return 'a disk device';
  return disk.test(path) ? 'a disk device' : undefined;
}
