import type { SettingInForce } from '../door.ts';

/** Whether the user's settings file gives a setting, be it outranked or not. */
export function isInFile(settings: readonly SettingInForce[], wanted: string): boolean {
  return settings.some(
    ({ key, origin: { source, outranked = [] } }) =>
      key === wanted && [source, ...outranked.map((other) => other.source)].includes('user'),
  );
}
