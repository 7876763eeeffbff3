import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { afterAll, describe, expect, it } from 'vitest';
import { findCitations, findGaps } from './find-citations.ts';
import { requirements } from './requirements.ts';

const root = fileURLToPath(new URL('..', import.meta.url));
const self = 'tests/requirements.test.ts';

function readTests(folder: string, ending: string): [string, string][] {
  if (!existsSync(root + folder)) return [];
  return readdirSync(root + folder, { recursive: true, encoding: 'utf8' })
    .map((path) => `${folder}/${path}`)
    .filter((path) => path.endsWith(ending) && path !== self)
    .map((path) => [path, readFileSync(root + path, 'utf8')]);
}

const tests = new Map([
  ...readTests('src', '.test.ts'),
  ...readTests('tests', '.test.ts'),
  ...readTests('features', '.feature'),
]);

afterAll(() => {
  const open = Object.keys(requirements).filter((id) => !requirements[id]?.built);
  console.info(`Requirements still open (${open.length}): ${open.join(' ')}`);
});

describe('the requirements', () => {
  it('are complete', () => {
    const counts: Record<string, number> = { T: 10, S: 10, B: 19, H: 10, P: 13, E: 9 };
    const ids = Object.entries(counts).flatMap(([letter, count]) =>
      Array.from({ length: count }, (_, index) => `${letter}${index + 1}`),
    );
    expect(Object.keys(requirements).sort()).toEqual(ids.sort());
    for (const { text } of Object.values(requirements)) expect(text).toMatch(/^\S.{20,}\.$/s);
  });

  it('that are built are cited by a test, and tests cite only existing ones', () => {
    expect(tests.size).toBeGreaterThan(5);
    expect(findGaps(requirements, findCitations(tests))).toEqual([]);
  });
});

describe('findCitations', () => {
  const cited = (path: string, ...lines: string[]) => [
    ...findCitations(new Map([[path, lines.join('\n')]])).keys(),
  ];

  it('finds ids in the titles of tests and suites', () => {
    const lines = ["it('E4: x', f);", 'test("T1, T2: y", f);', 'describe(`B3 z`, f);', "it.only('H1', f);"];
    expect(cited('a.test.ts', ...lines)).toEqual(['E4', 'T1', 'T2', 'B3', 'H1']);
    expect(cited('a.test.ts', "it.each([\n  ['a', 1],\n])('P1: %s', f);")).toEqual(['P1']);
    expect(cited('a.test.ts', "it(\n  'P2: long',\n  f,\n);", 'it("it\'s S1", f);')).toEqual(['P2', 'S1']);
  });

  it('finds none in comments, values, other words or skipped tests', () => {
    const lines = [
      "// it('E4: x', f);",
      "const id = 'E5';",
      "it('fails with E2BIG and H264', f);",
      'f(1)(2);',
    ];
    expect(cited('a.test.ts', ...lines)).toEqual([]);
    expect(cited('a.test.ts', "it.skip('E6', f);", "describe.skip('E7', f);", "it.todo('E8');")).toEqual([]);
  });

  it('finds ids in the tags and titles of features, not in their steps', () => {
    const lines = [
      '@E1 @slow',
      'Feature: E2 x',
      '  # @E3',
      '  Scenario: B4 y',
      '    Given E5',
      '  Scenario Outline: B6',
    ];
    expect(cited('a.feature', ...lines)).toEqual(['E1', 'E2', 'B4', 'B6']);
  });
});

describe('findGaps', () => {
  const required = { E1: { text: 'One.', built: true }, E2: { text: 'Two.', built: false } };

  it('reports a built requirement that no test names', () => {
    expect(findGaps(required, new Map())).toEqual(['E1 is marked built, but no test names it']);
  });

  it('reports an id that does not exist, with the files that name it', () => {
    const citations = new Map([
      ['E1', ['a']],
      ['E3', ['a', 'b']],
    ]);
    expect(findGaps(required, citations)).toEqual(['E3 does not exist, but is named in a, b']);
  });

  it('reports nothing if all built requirements are named', () => {
    expect(findGaps(required, new Map([['E1', ['a']]]))).toEqual([]);
  });
});
