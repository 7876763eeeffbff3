// Decides without a clock whether the process that wrote a record is still alive. The pid alone is not sufficient: pids
// are reused, differ between pid namespaces, and are meaningless after a reboot.
import { readFileSync, readlinkSync, statfsSync } from 'node:fs';

/** A process, identified beyond the reuse of its pid; fields that cannot be read are empty. */
export interface ProcessIdentity {
  /** The boot id of the kernel. */
  readonly boot: string;
  /** The pid namespace in which `pid` is valid. */
  readonly namespace: string;
  readonly pid: number;
  /** Clock ticks between boot and start, from /proc/PID/stat. */
  readonly startTime: string;
}

let own: ProcessIdentity | undefined;

/** The identity of this process. */
export function ownIdentity(): ProcessIdentity {
  own ??= {
    boot: bootId(),
    namespace: pidNamespace(),
    pid: process.pid,
    startTime: readProcess(process.pid)?.startTime ?? '',
  };
  return own;
}

/** The id of the current boot, the same in every container of this kernel; empty if it cannot be read. */
export function bootId(): string {
  return orEmpty(() => readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim());
}

/** The pid namespace of this process, such as `pid:[4026531836]`; empty if it cannot be read. */
export function pidNamespace(): string {
  return orEmpty(() => readlinkSync('/proc/self/ns/pid'));
}

/** Whether a process that wrote its identity to `path` is alive; undefined if that cannot be known from here. */
export function isAlive(
  { boot, namespace, pid, startTime }: ProcessIdentity,
  path: string,
): boolean | undefined {
  const here = ownIdentity();
  if (boot !== here.boot) return boot !== '' && here.boot !== '' && isOnLocalDisk(path) ? false : undefined;
  if (namespace !== here.namespace) return undefined;
  if (!isTaken(pid)) return false;
  const now = readProcess(pid);
  if (now === undefined) return true;
  return !now.isZombie && (startTime === '' || startTime === now.startTime);
}

// Types from statfs(2) that only one kernel can have mounted: ext, XFS, Btrfs, F2FS, ZFS, overlayfs and tmpfs.
const localTypes: ReadonlySet<number> = new Set([
  0xef53, 0x58465342, 0x9123683e, 0xf2f52010, 0x2fc12fc1, 0x794c7630, 0x01021994,
]);

/** Whether a file is on a disk that no other machine can write to, so that another boot id means an earlier boot. */
export function isOnLocalDisk(path: string): boolean {
  try {
    return localTypes.has(statfsSync(path).type);
  } catch {
    return false;
  }
}

function isTaken(pid: number): boolean {
  try {
    return pid > 0 && process.kill(pid, 0);
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
}

function readProcess(pid: number): { readonly startTime: string; readonly isZombie: boolean } | undefined {
  const line = orEmpty(() => readFileSync(`/proc/${pid}/stat`, 'latin1'));
  const close = line.lastIndexOf(')');
  const fields = line.slice(close + 2).split(' ');
  const [state, threads, startTime] = [fields[0], Number(fields[17]), fields[19]];
  if (close < 0 || startTime === undefined) return undefined;
  return { startTime, isZombie: (state === 'Z' || state === 'X') && threads <= 1 };
}

function orEmpty(read: () => string): string {
  try {
    return read();
  } catch {
    return '';
  }
}
