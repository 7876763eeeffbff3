/** A system call that is refused unless one bit of its second argument is set. */
export interface RefusedCall {
  /** The number of the call for each kernel interface, by the name of the interface. */
  readonly numbers: Readonly<Record<keyof typeof interfaces, number>>;
  /** The bit that makes it harmless; 0 for a call that never is. */
  readonly unlessBit: number;
  readonly errno: number;
}

// The kernel's own names for what a program can be compiled for, as a filter sees them.
const interfaces = { x64: 0xc000003e, x86: 0x40000003, arm64: 0xc00000b7, arm: 0x40000028 };
const load = 0x20;
const jumpIfEqual = 0x15;
const jumpIfAtLeast = 0x35;
const jumpIfBit = 0x45;
const end = 0x06;
const allow = 0x7fff0000;
const refuse = 0x00050000;
const numberAt = 0;
const interfaceAt = 4;
const secondArgumentAt = 24;
// A second numbering on x64, which nothing of today uses and a filter would have to repeat.
const x32 = 0x40000000;
const notImplemented = 38;

type Step = readonly [code: number, value: number, whenTrue?: number, whenFalse?: number];

/**
 * Memory that is made into a file can be executed although it lies in no folder. A file of memory that is sealed
 * against execution (the bit) is harmless. Programs take the answer for that of an old kernel and do without.
 */
export const memoryFiles: RefusedCall = {
  numbers: { x64: 319, x86: 356, arm64: 279, arm: 385 },
  unlessBit: 8,
  errno: notImplemented,
};

/** The program for the kernel that refuses one call, whichever interface it is made through. */
export function toSeccompFilter(call: RefusedCall): Buffer {
  const blocks = Object.entries(interfaces).flatMap(([name, value]) => {
    const steps = toBlock(call, name as keyof typeof interfaces);
    return [[jumpIfEqual, value, 0, steps.length] as const, ...steps];
  });
  return Buffer.concat([[load, interfaceAt] as const, ...blocks, toRefusal(notImplemented)].map(toBytes));
}

function toBlock({ numbers, unlessBit, errno }: RefusedCall, name: keyof typeof interfaces): readonly Step[] {
  return [
    [load, numberAt],
    ...(name === 'x64' ? [[jumpIfAtLeast, x32, 0, 1] as const, toRefusal(notImplemented)] : []),
    [jumpIfEqual, numbers[name], 1, 0],
    [end, allow],
    [load, secondArgumentAt],
    [jumpIfBit, unlessBit, 0, 1],
    [end, allow],
    toRefusal(errno),
  ];
}

function toRefusal(errno: number): Step {
  return [end, refuse | errno];
}

function toBytes([code, value, whenTrue = 0, whenFalse = 0]: Step): Buffer {
  const bytes = Buffer.alloc(8);
  bytes.writeUInt16LE(code, 0);
  bytes.writeUInt8(whenTrue, 2);
  bytes.writeUInt8(whenFalse, 3);
  bytes.writeUInt32LE(value, 4);
  return bytes;
}
