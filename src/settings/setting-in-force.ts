import type { Origin } from './resolve-candidates.ts';

/**
 * A clause about the effect of a value under the other settings; `isWarning` if it enforces less than users may expect.
 */
export interface SettingNote {
  readonly text: string;
  readonly isWarning: boolean;
}

/** A setting with its current value and where that value came from. */
export interface SettingInForce {
  /** Its key in a settings file. */
  readonly key: string;
  readonly value: unknown;
  /** A further limit from the project file, applied in addition to `value`. */
  readonly limit: unknown;
  readonly origin: Origin;
  /** Whether a running server applies a change without a restart. */
  readonly isLive: boolean;
}
