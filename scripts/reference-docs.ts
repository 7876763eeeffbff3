import { allSettings, settingGroups } from '../src/all-settings.ts';
import { toJsonSchema } from '../src/settings/to-json-schema.ts';
import { toReference } from '../src/settings/to-reference.ts';

/** The generated pages below `docs/reference`, by path from the project's root. */
export const referenceDocs: ReadonlyMap<string, string> = new Map([
  ['docs/reference/settings.md', toReference(settingGroups)],
  ['docs/reference/settings.schema.json', `${JSON.stringify(toJsonSchema(allSettings), null, 2)}\n`],
]);
