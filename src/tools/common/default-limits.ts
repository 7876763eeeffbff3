/** Limits of `Bash` under default settings: times in milliseconds, output in characters. */
export const BashLimits = {
  DEFAULT_TIMEOUT: 120_000,
  MIN_TIMEOUT: 1_000,
  MAX_TIMEOUT: 600_000,
  MAX_OUTPUT_SIZE: 30_000,
} as const;

/** Limits of `shell_execute` under default settings, in seconds. */
export const ShellExecuteLimits = { DEFAULT_TIMEOUT: 300, MIN_TIMEOUT: 1, MAX_TIMEOUT: 1_800 } as const;
