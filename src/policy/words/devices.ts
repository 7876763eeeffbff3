const disk =
  /^\/dev\/(?:sd[a-z]|hd[a-z]|vd[a-z]|xvd[a-z]|nvme\d|mmcblk\d|disk\d|rdisk\d|dm-\d|md\d|md\/|mapper\/|loop\d|nbd\d|sr\d|cdrom|dvd|fd\d+$|ram\d|zram\d|zd\d|zvol\/|drbd\d|bcache\d|pmem\d|mtd|mtdblock|ubi|disk\/|block\/|root$|vg|[a-z]*-?vg\d*\/|ada\d|da\d|nvd\d|wd\d)/;
const memory = /^\/dev\/(?:mem|kmem|port|nvram)$/;
const kernel =
  /^\/(?:proc\/(?:sysrq-trigger|kcore)|sys\/power\/(?:state|disk)|sys\/(?:block|bus|class|devices)\/[^\0]{1,200}\/(?:delete|remove|reset|unbind|device\/state)|sys\/fs\/cgroup\/cgroup\.(?:kill|freeze))$/;

/** Describes a device file that must not be written, such as /dev/sda; undefined for any other path. */
export function describeDevice(path: string): string | undefined {
  if (memory.test(path)) return 'the machine’s memory';
  if (kernel.test(path)) return 'a control file of the running kernel';
  // A glob such as `/dev/sd*`, or a known prefix such as `/dev/sd` followed by a hole.
  if (/^\/dev\/(?:[shv]d|xvd|nvme|mmcblk|disk)(?:$|[?*[])/.test(path)) return 'a disk device';
  return disk.test(path) ? 'a disk device' : undefined;
}
