import { listSettings } from '../settings/define.ts';
import type { SettingInForce } from '../settings/setting-in-force.ts';
import { allSettings } from './all-settings.ts';
import type { Resolved } from './rules-for.ts';

/** Every setting with its value and origin, for display; secret values become `(hidden)`. */
export function toSettingsInForce(resolved: Resolved): readonly SettingInForce[] {
  const { values, limits, origins } = resolved;
  return listSettings(allSettings).map(({ name, key, secret, live }) => {
    const one = name as keyof typeof allSettings;
    const shown = (value: unknown) => (secret && value !== undefined ? '(hidden)' : value);
    const { outranked, ...origin } = origins[one];
    return {
      key,
      value: shown(values[one]),
      limit: limits[one],
      origin: { ...origin, outranked: outranked?.map((other) => ({ ...other, value: shown(other.value) })) },
      isLive: live,
    };
  });
}
