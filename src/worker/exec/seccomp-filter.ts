/** A system call that is denied unless one bit of its second argument is set. */
export interface DeniedCall {
  readonly numbers: Readonly<Record<Architecture, number>>;
  readonly unlessBit: number;
  readonly errno: number;
}

// AUDIT_ARCH_* values, as a filter sees them.
const architectures = { x64: 0xc000003e, x86: 0x40000003, arm64: 0xc00000b7, arm: 0x40000028 };
const load = 0x20;
const jumpIfEqual = 0x15;
const jumpIfAtLeast = 0x35;
const jumpIfBit = 0x45;
const returnValue = 0x06;
const allow = 0x7fff0000;
const returnErrno = 0x00050000;
const numberAt = 0;
const architectureAt = 4;
const secondArgumentAt = 24;
// Flag of x32 calls (`__X32_SYSCALL_BIT`), a second numbering on x64 that is unused today; all of them are denied.
const x32 = 0x40000000;
const enosys = 38;

type Architecture = keyof typeof architectures;

type Step = readonly [code: number, value: number, whenTrue?: number, whenFalse?: number];

/**
 * `memfd_create`: a memory file can be executed although it is in no folder, unless it has MFD_NOEXEC_SEAL (8).
 * Programs treat ENOSYS as an old kernel and fall back.
 */
export const memoryFiles: DeniedCall = {
  numbers: { x64: 319, x86: 356, arm64: 279, arm: 385 },
  unlessBit: 8,
  errno: enosys,
};

/** The BPF program that denies one call in every architecture. */
export function toSeccompFilter(call: DeniedCall): Buffer {
  const blocks = Object.entries(architectures).flatMap(([name, value]) => {
    const steps = toBlock(call, name as Architecture);
    return [[jumpIfEqual, value, 0, steps.length] as const, ...steps];
  });
  return Buffer.concat([[load, architectureAt] as const, ...blocks, toDenial(enosys)].map(toBytes));
}

function toBlock({ numbers, unlessBit, errno }: DeniedCall, name: Architecture): readonly Step[] {
  return [
    [load, numberAt],
    ...(name === 'x64' ? [[jumpIfAtLeast, x32, 0, 1] as const, toDenial(enosys)] : []),
    [jumpIfEqual, numbers[name], 1, 0],
    [returnValue, allow],
    [load, secondArgumentAt],
    [jumpIfBit, unlessBit, 0, 1],
    [returnValue, allow],
    toDenial(errno),
  ];
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
