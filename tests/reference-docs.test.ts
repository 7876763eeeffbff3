import { readFile } from 'node:fs/promises';
import { describe, expect, it } from 'vitest';
import { listSentences } from '../scripts/reference/list-sentences.ts';
import { readSources, referenceDocs } from '../scripts/reference-docs.ts';

it.each([...referenceDocs])('E8: %s is up to date (node scripts/generate-docs.mjs)', async (path, text) => {
  const page = await readFile(new URL(`../${path}`, import.meta.url), 'utf8');
  expect(page).toBe(text);
});

it('E8: the reference has pages for settings, presets, tools, command line, HTTP and errors, and a schema', () => {
  expect([...referenceDocs.keys()]).toEqual([
    'docs/reference/settings.md',
    'docs/reference/settings.schema.json',
    'docs/reference/presets.md',
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

  it('has a hint with the next step', () => {
    expect(sentences.filter(({ hint }) => hint === '' || hint === '{undefined}')).toEqual([]);
  });

  it('is a whole sentence, or ends with the message of the system', () => {
    const isWhole = (message: string) => /[.?}]$/.test(message);
    expect(sentences.filter(({ message }) => !isWhole(message)).map(({ message }) => message)).toEqual([]);
  });

  it('has one or two sentences', () => {
    const stops = (message: string) =>
      message.split(' · ').map((one) => one.match(/\.(?= |$)/g)?.length ?? 0);
    expect(sentences.filter(({ message }) => Math.max(...stops(message)) > 2)).toEqual([]);
  });
});
