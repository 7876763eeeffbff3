import { type Declarations, listSettings, type Setting } from './define.ts';
import { toDefaultNotes, toPlaceholder } from './describe.ts';

/** One flag in a help text: its names with the placeholder of its value, and its meaning. */
export interface HelpRow {
  readonly left: string;
  readonly right: string;
}

/** The flags of these declarations as rows of a help text. */
export function toHelpRows(declarations: Declarations): readonly HelpRow[] {
  return listSettings(declarations)
    .filter(({ flags }) => flags.length > 0)
    .map((setting) => ({ left: toNames(setting), right: toSentence(setting) }));
}

function toNames(setting: Setting): string {
  const names = [...setting.flags].sort((a, b) => a.length - b.length).join(', ');
  return `${names} ${toPlaceholder(setting)}`.trimEnd();
}

function toSentence(setting: Setting): string {
  const notes = [...setting.env, ...toDefaultNotes(setting)];
  return notes.length === 0 ? setting.description : `${setting.description} (${notes.join('; ')})`;
}
