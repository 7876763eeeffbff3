/** A system call that fails with `errno` if all of `when` are true. */
export interface DeniedCall {
  /** Its number; absent on architectures that do not have it. */
  readonly numbers: Readonly<Partial<Record<Architecture, number>>>;
  readonly when?: readonly Condition[];
  readonly errno: number;
}

/** A comparison of the bits `mask` of an argument; the filter sees numbers, never what a pointer refers to. */
export interface Condition {
  readonly argument: number;
  readonly mask: number;
  readonly is: 'equal' | 'other';
  readonly value: number;
}

// AUDIT_ARCH_* values, as a filter sees them.
const architectures = { x64: 0xc000003e, x86: 0x40000003, arm64: 0xc00000b7, arm: 0x40000028 };
const load = 0x20;
const and = 0x54;
const jumpIfEqual = 0x15;
const jumpIfAtLeast = 0x35;
const returnValue = 0x06;
const allow = 0x7fff0000;
const returnErrno = 0x00050000;
const numberAt = 0;
const architectureAt = 4;
// Each argument has 8 bytes; the lower half comes first.
const argumentsAt = 16;
// Flag of x32 calls (`__X32_SYSCALL_BIT`), a second numbering on x64 that is unused today; all of them are denied.
const x32 = 0x40000000;
const enosys = 38;
const eacces = 13;
const eperm = 1;

type Architecture = keyof typeof architectures;

type Step = readonly [code: number, value: number, whenTrue?: number, whenFalse?: number];

/**
 * `memfd_create`: a memory file can be executed although it is in no folder, unless it has MFD_NOEXEC_SEAL (8).
 * Programs treat ENOSYS as an old kernel and fall back.
 */
export const memoryFiles: readonly DeniedCall[] = [
  {
    numbers: { x64: 319, x86: 356, arm64: 279, arm: 385 },
    when: [{ argument: 1, mask: 8, is: 'equal', value: 0 }],
    errno: enosys,
  },
];

/** `add_key`, `request_key` and `keyctl`: the user's keys in the kernel, such as Kerberos tickets, are not files. */
export const keyrings: readonly DeniedCall[] = [
  { numbers: { x64: 248, x86: 286, arm64: 217, arm: 309 }, errno: enosys },
  { numbers: { x64: 249, x86: 287, arm64: 218, arm: 310 }, errno: enosys },
  { numbers: { x64: 250, x86: 288, arm64: 219, arm: 311 }, errno: enosys },
];

const netlink = 16;
const typeBits = 0xf;
const [datagram, raw] = [2, 3];
const pairs = { x64: 53, x86: 360, arm64: 199, arm: 288 };

/**
 * All sockets except netlink, which lists network interfaces, and connected pairs, which Node's child processes need. A
 * pair of datagram sockets could still send to any path. `socketcall` hides its arguments behind a pointer, and io_uring
 * creates sockets without a system call.
 */
export const sockets: readonly DeniedCall[] = [
  {
    numbers: { x64: 41, x86: 359, arm64: 198, arm: 281 },
    when: [{ argument: 0, mask: 0xffffffff, is: 'other', value: netlink }],
    errno: eacces,
  },
  ...[datagram, raw].map((value) => ({
    numbers: pairs,
    when: [{ argument: 1, mask: typeBits, is: 'equal', value } as const],
    errno: eacces,
  })),
  { numbers: { x86: 102, arm: 102 }, errno: enosys },
  { numbers: { x64: 425, x86: 425, arm64: 425, arm: 425 }, errno: enosys },
];

/** `prlimit64` of another process: a low RLIMIT_CPU would kill it, although Landlock denies signals. */
export const limitsOfOthers: readonly DeniedCall[] = [
  {
    numbers: { x64: 302, x86: 340, arm64: 261, arm: 369 },
    when: [{ argument: 0, mask: 0xffffffff, is: 'other', value: 0 }],
    errno: eperm,
  },
];

const accessAndTruncate = 0x203;
const readAndTruncate: Condition = {
  argument: 1,
  mask: accessAndTruncate,
  is: 'equal',
  value: 0x200,
};

/**
 * The calls that truncate a file without opening it for writing, which Landlock restricts since version 3 only:
 * `truncate`, `open` with O_RDONLY and O_TRUNC, and `openat2`, whose flags are behind a pointer.
 */
export const truncation: readonly DeniedCall[] = [
  { numbers: { x64: 76, x86: 92, arm64: 45, arm: 92 }, errno: eacces },
  { numbers: { x86: 193, arm: 193 }, errno: eacces },
  { numbers: { x64: 2, x86: 5, arm: 5 }, when: [readAndTruncate], errno: eacces },
  {
    numbers: { x64: 257, x86: 295, arm64: 56, arm: 322 },
    when: [{ ...readAndTruncate, argument: 2 }],
    errno: eacces,
  },
  { numbers: { x64: 437, x86: 437, arm64: 437, arm: 437 }, errno: enosys },
];

/** The BPF program that denies calls in every architecture. */
export function toSeccompFilter(calls: readonly DeniedCall[]): Buffer {
  const blocks = Object.entries(architectures).flatMap(([name, value]) => {
    const steps = toBlock(calls, name as Architecture);
    // A conditional jump skips at most 255 steps, the unconditional one (BPF_JA) any number.
    return [[jumpIfEqual, value, 1, 0] as const, [jump, steps.length] as const, ...steps];
  });
  return Buffer.concat([[load, architectureAt] as const, ...blocks, toDenial(enosys)].map(toBytes));
}

const jump = 0x05;

function toBlock(calls: readonly DeniedCall[], name: Architecture): readonly Step[] {
  return [
    [load, numberAt],
    ...(name === 'x64' ? [[jumpIfAtLeast, x32, 0, 1] as const, toDenial(enosys)] : []),
    ...calls.flatMap((call) => toCall(call, call.numbers[name])),
    [returnValue, allow],
  ];
}

// If a comparison fails, the rest of the call's steps is skipped, and the next call loads the number again.
function toCall({ when = [], errno }: DeniedCall, number: number | undefined): readonly Step[] {
  if (number === undefined) return [];
  const stepsOfCondition = 3;
  const conditions = when.flatMap(({ argument, mask, is, value }, index): readonly Step[] => {
    const skipped = (when.length - 1 - index) * stepsOfCondition + 1;
    return [
      [load, argumentsAt + 8 * argument],
      [and, mask],
      is === 'equal' ? [jumpIfEqual, value, 0, skipped] : [jumpIfEqual, value, skipped, 0],
    ];
  });
  return [[load, numberAt], [jumpIfEqual, number, 0, conditions.length + 1], ...conditions, toDenial(errno)];
}

function toDenial(errno: number): Step {
  return [returnValue, returnErrno | errno];
}

function toBytes([code, value, whenTrue = 0, whenFalse = 0]: Step): Buffer {
  const bytes = Buffer.alloc(8);
  bytes.writeUInt16LE(code, 0);
  bytes.writeUInt8(whenTrue, 2);
  bytes.writeUInt8(whenFalse, 3);
  bytes.writeUInt32LE(value, 4);
  return bytes;
}
