import { readFile } from 'node:fs/promises';
import { describe, expect, it } from 'vitest';
import { listSentences } from '../scripts/reference/list-sentences.ts';
import { readSources, referenceDocs } from '../scripts/reference-docs.ts';

it.each([...referenceDocs])(
  'E8: %s says what the code declares (node scripts/generate-docs.mjs)',
  async (path, text) => {
    const page = await readFile(new URL(`../${path}`, import.meta.url), 'utf8');
    expect(page).toBe(text);
  },
);

it('E8: there is a page for everything that users meet, and a schema', () => {
  expect([...referenceDocs.keys()]).toEqual([
    'docs/reference/settings.md',
    'docs/reference/settings.schema.json',
    'docs/reference/tools.md',
    'docs/reference/cli.md',
    'docs/reference/http.md',
    'docs/reference/errors.md',
  ]);
});

describe('every error', () => {
  const sentences = listSentences(readSources(), 'NacreError');

  it('is found in the sources', () => {
    expect(sentences.length).toBeGreaterThan(120);
  });

  it('says what the next step is', () => {
    expect(sentences.filter(({ hint }) => hint === '' || hint === '{undefined}')).toEqual([]);
  });

  it('is a whole sentence, or ends with what the system says', () => {
    const isWhole = (message: string) => /[.}]$/.test(message);
    expect(sentences.filter(({ message }) => !isWhole(message)).map(({ message }) => message)).toEqual([]);
  });

  it('says in one or two sentences', () => {
    const stops = (message: string) =>
      message.split(' · ').map((one) => one.match(/\.(?= |$)/g)?.length ?? 0);
    expect(sentences.filter(({ message }) => Math.max(...stops(message)) > 2)).toEqual([]);
  });
});
