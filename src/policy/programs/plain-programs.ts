// Programs that start no other program and load no code, with any option: their arguments are data. They need no entry,
// and under an allow list of such programs the kernel can enforce the list for every command.
const names = new Set(
  `addr2line arch arp b2sum base32 basename basenc blkid c++filt cal chattr chcon chgrp chmod chown cksum clear cmp
  col colrm column comm cut date df diff dig dir dircolors dirname dos2unix du envsubst expand expr false fmt fold
  free getcap getconf getent getfacl getopt gettext grep groups hd head host hostid hostname id ifconfig join jq kill
  killall last lastlog link locale locate logname lsattr lsblk lscpu lsmem lsns lsof lspci lsusb lz4 md5sum
  mknod mktemp namei ncal netstat nl nproc nslookup numfmt objdump paste pathchk pgrep pidof ping pinky pkill printenv
  ps pstree ptx pwd pwdx readelf readlink realpath renice rev rm rmdir route seq sha1sum sha224sum sha256sum sha384sum
  sha512sum size slabtop sleep ss stat strings stty sum sync tail tload top tput tr traceroute true tsort tty uname
  unexpand unix2dos unlink uptime users uuidgen vdir vmstat w wc whereis who whoami yes`.split(/\s+/),
);

/** Returns true for a program whose arguments are data. */
export function isPlainProgram(name: string): boolean {
  return names.has(name);
}

/** The names of these programs. */
export const plainPrograms: readonly string[] = [...names];
