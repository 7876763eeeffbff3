import { existsSync } from 'node:fs';

// perl is not looked up on the PATH, because commands may be able to write to its folders.
const perlPath = '/usr/bin/perl';

// unshare, mount, openat, newfstatat, mknodat, utimensat, lsetxattr, lgetxattr, lremovexattr, syncfs, renameat, linkat,
// llistxattr, then O_DIRECTORY and O_NOFOLLOW, then the layout of `struct stat` for unpack(): dev, ino, nlink, mode, uid,
// gid, rdev, size, mtime, ctime, then capget, capset, renameat2 and unlinkat.
const calls: Readonly<Record<string, string>> = {
  x64: '272,165,257,262,259,280,189,192,198,306,264,265,195,65536,131072,0 1 2 3 4 5 6 7 12 13 14 15,QQQLLLx4Qq9,125,126,316,263',
  arm64:
    '97,40,56,79,33,88,6,9,15,267,38,37,12,16384,32768,0 1 3 2 4 5 6 7 12 13 14 15,QQLLLLQx8qlx4qq6,90,91,276,35',
};

/** The start of a command line that runs a perl script with the numbers of its system calls; undefined without perl. */
export function toPerlCommand(script: string, perl = perlPath): readonly [string, ...string[]] | undefined {
  const numbers = calls[process.arch];
  if (process.platform !== 'linux' || numbers === undefined || !existsSync(perl)) return undefined;
  return [perl, '-f', '-e', script, numbers];
}
