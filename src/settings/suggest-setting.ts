import type { Setting } from './define.ts';
import { nearest } from './nearest.ts';

/**
 * A sentence that suggests a setting for an unknown name, or an empty string. A name that is right in another place, such as
 * the flag `--allow` for the file key `allowed_commands`, is a better match than one that is spelled alike.
 */
export function suggestSetting(
  name: string,
  settings: readonly Setting[],
  spellHere: (setting: Setting) => string,
): string {
  const flag = `--${name.replace(/^-+/, '').replaceAll('_', '-')}`;
  const elsewhere = findNamed(settings, name) ?? findNamed(settings, flag);
  const near = nearest(name, settings.map(spellHere));
  const nearFlag = nearest(
    flag,
    settings.flatMap(({ flags }) => flags),
  );
  const meant = elsewhere ?? findNamed(settings, near ?? nearFlag ?? '');
  return meant === undefined ? '' : ` Did you mean ${spellHere(meant)}?`;
}

function findNamed(settings: readonly Setting[], name: string): Setting | undefined {
  return settings.find((one) => [one.key, one.name, ...one.env, ...one.flags].includes(name));
}
