import { getSystemErrorName } from 'node:util';
import { capabilityCalls } from './capability-calls.ts';
import { pathFlags } from './path-flags.ts';

/** The calls of the C library that a process needs to restrict itself; each throws with the errno name when it fails. */
export interface Libc {
  landlockVersion(): number;
  createRuleset(attributes: Buffer): number;
  addRule(ruleset: number, rule: Buffer): void;
  restrictSelf(ruleset: number): void;
  /** Opens a file with O_PATH and O_NOFOLLOW; null if it cannot be opened. */
  openPath(path: string): number | null;
  forbidNewPrivileges(): void;
  /** Drops a capability from the bounding set (`PR_CAPBSET_DROP`); returns `false` on failure. */
  dropCapability(number: number): boolean;
  clearAmbientCapabilities(): void;
  /** Removes all but these bits from the effective, permitted and inheritable capabilities (`capset`). */
  keepCapabilities(kept: bigint): void;
  installFilter(filter: Buffer): void;
  clearCloseOnExec(fd: number): void;
  resetSignal(number: number): void;
  setEnv(name: string, value: string): void;
  /** Replaces the process with another program (`execv`); throws if that fails, and otherwise never returns. */
  exec(argv: readonly string[]): void;
}

const landlock = { create: 444, add: 445, restrict: 446 };
const prctlOptions = { seccomp: 22, dropBound: 24, noNewPrivileges: 38, ambient: 47 };
// _LINUX_CAPABILITY_VERSION_3, and the pid 0 for this process.
const capabilityHeader = new Uint8Array([0x22, 0x05, 0x08, 0x20, 0, 0, 0, 0]);
const clearAll = 4;
const setDescriptorFlags = 2;

/** Loads the C library of this process. */
export async function loadLibc(): Promise<Libc> {
  const { default: koffi } = await import('koffi');
  const library = koffi.load(null);
  const syscall = library.func('long syscall(long number, ...)');
  const prctl = library.func('int prctl(int option, ulong a, ulong b, ulong c, ulong d)');
  const open = library.func('int open(const char *path, int flags)');
  const fcntl = library.func('int fcntl(int fd, int command, long argument)');
  const signal = library.func('void *signal(int number, void *handler)');
  const setenv = library.func('int setenv(const char *name, const char *value, int replace)');
  const execv = library.func('int execv(const char *path, const char **argv)');
  const program = koffi.struct({ length: 'uint16_t', filter: 'void *' });
  const install = library.func('prctl', 'int', ['int', 'ulong', koffi.pointer(program)]);
  const checked = (what: string, result: unknown): number => {
    if (Number(result) < 0) throw new Error(`${what}: ${getSystemErrorName(-koffi.errno())}`);
    return Number(result);
  };
  const versionFlag = 1;

  return {
    landlockVersion: () =>
      checked(
        'landlock_create_ruleset',
        syscall(landlock.create, 'void *', null, 'size_t', 0, 'uint32_t', versionFlag),
      ),
    createRuleset: (attributes) =>
      checked(
        'landlock_create_ruleset',
        syscall(landlock.create, 'void *', attributes, 'size_t', attributes.length, 'uint32_t', 0),
      ),
    addRule(ruleset, rule) {
      const pathBeneath = 1;
      const result = syscall(landlock.add, 'int', ruleset, 'int', pathBeneath, 'void *', rule, 'uint32_t', 0);
      checked('landlock_add_rule', result);
    },
    restrictSelf(ruleset) {
      checked('landlock_restrict_self', syscall(landlock.restrict, 'int', ruleset, 'uint32_t', 0));
    },
    openPath(path) {
      const fd = Number(open(path, pathFlags));
      return fd < 0 ? null : fd;
    },
    forbidNewPrivileges() {
      checked('no_new_privs', prctl(prctlOptions.noNewPrivileges, 1, 0, 0, 0));
    },
    dropCapability: (number) => Number(prctl(prctlOptions.dropBound, number, 0, 0, 0)) === 0,
    clearAmbientCapabilities() {
      checked('ambient capabilities', prctl(prctlOptions.ambient, clearAll, 0, 0, 0));
    },
    keepCapabilities(kept) {
      const header = Buffer.from(capabilityHeader);
      const sets = Buffer.alloc(24);
      checked('capget', syscall(capabilityCalls.get, 'void *', header, 'void *', sets));
      const masked = maskCapabilities(sets, kept);
      checked('capset', syscall(capabilityCalls.set, 'void *', header, 'void *', masked));
    },
    installFilter(filter) {
      const filterMode = 2;
      const stepBytes = 8;
      checked(
        'seccomp',
        install(prctlOptions.seccomp, filterMode, { length: filter.length / stepBytes, filter }),
      );
    },
    clearCloseOnExec(fd) {
      checked(`descriptor ${fd}`, fcntl(fd, setDescriptorFlags, 0));
    },
    resetSignal(number) {
      signal(number, null);
    },
    setEnv(name, value) {
      checked(name, setenv(name, value, 1));
    },
    exec(argv) {
      checked(`${argv[0]}`, execv(argv[0], [...argv, null]));
    },
  };
}

// `sets` has three words for capabilities 0 to 31, then three for 32 to 63.
function maskCapabilities(sets: Buffer, kept: bigint): Buffer {
  const masked = Buffer.from(sets);
  for (let at = 0; at < masked.length; at += 4) {
    const mask = Number((at < 12 ? kept : kept >> 32n) & 0xffffffffn);
    masked.writeUInt32LE((masked.readUInt32LE(at) & mask) >>> 0, at);
  }
  return masked;
}
