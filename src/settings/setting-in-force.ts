import type { Origin } from './resolve-candidates.ts';

/** A setting with its current value and where that value came from. */
export interface SettingInForce {
  /** Its key in a settings file. */
  readonly key: string;
  readonly value: unknown;
  /** A further limit from the project file, applied in addition to `value`. */
  readonly limit: unknown;
  readonly origin: Origin;
  /** A clause about what the value means under the other settings; `isWarning` if it enforces less than one may expect. */
  readonly note?: { readonly text: string; readonly isWarning: boolean } | undefined;
  /** Whether a running server applies a change without a restart. */
  readonly isLive: boolean;
}
