/**
 * The capabilities, with their numbers, that root loses in a layer without a sandbox. With them, root could unmount the layer, or open
 * a file below it from another namespace or by a file handle.
 */
export const mountCapabilities = {
  SYS_ADMIN: 21,
  SYS_PTRACE: 19,
  SYS_CHROOT: 18,
  DAC_READ_SEARCH: 2,
  SYS_MODULE: 16,
  SYS_RAWIO: 17,
} as const;
