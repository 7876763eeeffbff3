import { readFile } from 'node:fs/promises';
import { expect, it } from 'vitest';
import { referenceDocs } from '../scripts/reference-docs.ts';

it.each([...referenceDocs])(
  'E8: %s says what the code declares (node scripts/generate-docs.mjs)',
  async (path, text) => {
    const page = await readFile(new URL(`../${path}`, import.meta.url), 'utf8');
    expect(page).toBe(text);
  },
);

it('E8: there is a page and a schema', () => {
  expect([...referenceDocs.keys()]).toEqual([
    'docs/reference/settings.md',
    'docs/reference/settings.schema.json',
  ]);
});
