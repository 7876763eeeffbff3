import type { SettingInForce } from '../doors/door.ts';
import { listSettings } from '../settings/define.ts';
import { allSettings } from './all-settings.ts';
import type { Resolved } from './rules-for.ts';

/** Every setting as it is in force, for people; secrets are not shown. */
export function toSettingsInForce({ values, limits, origins }: Resolved): readonly SettingInForce[] {
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
