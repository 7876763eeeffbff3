import { readdirSync, readFileSync } from 'node:fs';
import { allSettings, settingGroups } from '../src/rules/all-settings.ts';
import { toJsonSchema } from '../src/settings/to-json-schema.ts';
import { toReference } from '../src/settings/to-reference.ts';
import { toCliPage } from './reference/cli-page.ts';
import { toErrorsPage } from './reference/errors-page.ts';
import { toHttpPage } from './reference/http-page.ts';
import { toPresetsPage } from './reference/presets-page.ts';
import { toToolsPage } from './reference/tools-page.ts';

/** Reads the source files below src, without tests, by path from the project's root. */
export function readSources(): ReadonlyMap<string, string> {
  const names = readdirSync('src', { recursive: true, encoding: 'utf8' });
  const sources = names.filter((name) => name.endsWith('.ts') && !name.endsWith('.test.ts')).sort();
  return new Map(sources.map((name) => [`src/${name}`, readFileSync(`src/${name}`, 'utf8')]));
}

/** The generated pages below `docs/reference`, by path from the project's root. */
export const referenceDocs: ReadonlyMap<string, string> = new Map([
  ['docs/reference/settings.md', toReference(settingGroups)],
  ['docs/reference/settings.schema.json', `${JSON.stringify(toJsonSchema(allSettings), null, 2)}\n`],
  ['docs/reference/presets.md', toPresetsPage()],
  ['docs/reference/tools.md', toToolsPage()],
  ['docs/reference/cli.md', toCliPage()],
  ['docs/reference/http.md', toHttpPage()],
  ['docs/reference/errors.md', await toErrorsPage(readSources())],
]);
