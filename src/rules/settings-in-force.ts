import { listSettings } from '../settings/define.ts';
import type { SettingInForce } from '../settings/setting-in-force.ts';
import { describeAutoExec } from '../support/describe-exec.ts';
import { allSettings } from './all-settings.ts';
import { execAllowFor, rulesOfCallers } from './exec-allow.ts';
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
      note: name === 'exec' ? noteOnExec(resolved) : undefined,
      isLive: live,
    };
  });
}

function noteOnExec(resolved: Resolved): SettingInForce['note'] {
  if (resolved.values.exec !== 'auto') return undefined;
  const list = execAllowFor(rulesOfCallers(undefined, resolved));
  const isClosed = list !== undefined && list.open.length === 0;
  const text = `${describeAutoExec(list)}${isClosed ? ', if it has Landlock (nacre doctor)' : ''}`;
  return { text, isWarning: list !== undefined && !isClosed };
}
