import type { Setting } from './define.ts';
import { suffixWords } from './units.ts';

/** The accepted values as a phrase for the end of a sentence, such as `one of off, block`. */
export function describeAccepted(setting: Setting): string {
  if (setting.accepts !== undefined) return setting.accepts;
  const { kind } = setting;
  switch (kind.type) {
    case 'int':
      return `a whole number from ${kind.min} to ${kind.max}${kind.unit ? `, or with ${suffixWords[kind.unit]}` : ''}`;
    case 'boolean':
      return 'true or false';
    case 'choice':
      return `one of ${kind.options.join(', ')}`;
    case 'text':
      return setting.path ? 'a path' : 'any text';
    case 'list':
      return `a comma-separated list${kind.options ? ` of ${kind.options.join(', ')}` : ''}`;
    case 'records':
      return 'a list of objects';
    case 'map':
      return 'a mapping of names to objects';
  }
}

/** The default in words: its value, or the `unset` text. */
export function describeDefault(setting: Setting): string {
  const result = setting.schema.safeParse(undefined);
  const value = result.success ? result.data : undefined;
  if (value === undefined) return setting.unset ?? 'unset';
  if (Array.isArray(value)) return value.length === 0 ? (setting.unset ?? 'none') : value.join(', ');
  if (typeof value === 'object') return setting.unset ?? 'none';
  return String(value);
}

/** The default as a note for help texts; none for a switch, or if there is no default to show. */
export function toDefaultNotes(setting: Setting): string[] {
  const text = describeDefault(setting);
  return setting.kind.type === 'boolean' || text === 'unset' ? [] : [`default: ${text}`];
}

/** The places other than a project file where a setting can be set. */
export function describePlaces(setting: Setting): string {
  return [...setting.flags, ...setting.env, `${setting.key} in the user file`].join(', ');
}

/** The placeholder for a flag's value in help texts, such as `PATH`; empty for a switch. */
export function toPlaceholder(setting: Setting): string {
  const { kind } = setting;
  switch (kind.type) {
    case 'int':
      return kind.unit?.toUpperCase() ?? 'N';
    case 'boolean':
      return '';
    case 'choice':
      return kind.options.join('|');
    case 'text':
      return setting.path ? 'PATH' : 'TEXT';
    case 'list':
      return kind.options?.join(',') ?? 'LIST';
    case 'records':
    case 'map':
      return '';
  }
}
