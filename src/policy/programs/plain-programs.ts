// Programs that start no other program and load no code, with any option: their arguments are data. They need no entry,
// and under an allow list of such programs the kernel can enforce the list for every command.
const names = new Set(
  `arch b2sum basename basenc blkid cal cat chattr chcon chgrp chmod chown cksum clear cmp col colrm column comm cp cut date df diff dir
  dircolors dirname du echo expand expr factor false fmt fold free getconf getent getfacl getopt grep groups hd
  head hexdump host hostid hostname iconv id ifconfig join jq kill killall last lastlog link ln locale logname ls lsattr lsblk lscpu lsmem lsns
  lsof lspci lsusb md5sum mkdir mkfifo mknod mktemp mv namei ncal netstat nl nproc numfmt od paste pathchk pgrep pidof ping
  pinky pkill pr printenv printf ps pstree ptx pwd pwdx readelf readlink realpath renice rev rm rmdir seq sha1sum sha224sum
  sha256sum sha384sum sha512sum shuf size sleep slabtop ss stat strings stty sum sync tac tail tee test tload top touch tr
  traceroute tree true truncate tsort tty uname unexpand uniq unlink uptime users vdir vmstat w wc whereis who whoami
  xxd yes`.split(/\s+/),
);

/** Returns true for a program whose arguments are data. */
export function isPlainProgram(name: string): boolean {
  return names.has(name);
}

/** The names of these programs. */
export const plainPrograms: readonly string[] = [...names];
