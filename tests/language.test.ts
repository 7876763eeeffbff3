import { readdirSync, readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { findTitles } from './find-citations.ts';
import {
  findIn,
  findInComments,
  findInPage,
  findInTexts,
  forbiddenWords,
  namesIdentifier,
  opensWithRiddle,
  readComments,
} from './language.ts';
import { findPages } from './support/pages.ts';

// The part of the comments in src that has to name an identifier, signal, system call, file or flag.
const leastShare = 0.4;

// These files contain the forbidden words on purpose.
const own = ['tests/language.ts', 'tests/language.test.ts'];
const sources = ['src', 'tests', 'scripts', 'bench', 'examples'].flatMap(readFolder);
// The reference is generated from src, and CHANGELOG.md keeps the wording of earlier releases.
const pages = findPages().filter((page) => !page.startsWith('docs/reference/') && page !== 'CHANGELOG.md');
function readFolder(folder: string): { file: string; source: string }[] {
  return readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .filter((name) => /\.(?:ts|mjs|js)$/.test(name) && !name.includes('node_modules/'))
    .map((name) => `${folder}/${name}`)
    .filter((file) => !own.includes(file))
    .map((file) => ({ file, source: readFileSync(file, 'utf8') }));
}

const isTest = (file: string) => /\.test\.ts$/.test(file);
const isCode = (file: string) => file.startsWith('src/') && !isTest(file);
const toLines = (findings: readonly { file: string; line: number; text: string }[]) =>
  findings.map(({ file, line, text }) => `${file}:${line} ${text.split('\n')[0]}`);

describe('the project', () => {
  it('has no forbidden word in a comment', () => {
    expect(toLines(sources.flatMap(({ file, source }) => findInComments(file, source)))).toEqual([]);
  });

  it('has no forbidden word in an error message, hint or description', () => {
    const shown = sources.filter(({ file }) => isCode(file) || file.startsWith('scripts/'));
    expect(toLines(shown.flatMap(({ file, source }) => findInTexts(file, source)))).toEqual([]);
  });

  it('has no forbidden word in a test title', () => {
    const tests = sources.filter(({ file }) => isTest(file));
    expect(toLines(tests.flatMap(({ file, source }) => findIn(file, findTitles(source))))).toEqual([]);
  });

  it('has no forbidden word on a page', () => {
    expect(toLines(pages.flatMap((page) => findInPage(page, readFileSync(page, 'utf8'))))).toEqual([]);
  });

  it('has no comment that begins with What or Who', () => {
    const found = sources.flatMap(({ file, source }) =>
      readComments(source)
        .filter(({ text }) => opensWithRiddle(text))
        .map(({ text, line }) => ({ file, line, text })),
    );
    expect(toLines(found)).toEqual([]);
  });

  it('names an identifier in at least 40 % of the comments in src', () => {
    const comments = sources
      .filter(({ file }) => isCode(file))
      .flatMap(({ file, source }) => readComments(source).map((comment) => ({ file, ...comment })));
    const vague = comments.filter(({ text }) => !namesIdentifier(text));
    const share = 1 - vague.length / comments.length;
    // On failure, list the vague comments.
    expect(share >= leastShare ? [] : [`${(share * 100).toFixed(1)} %`, ...toLines(vague)]).toEqual([]);
  });
});

describe('readComments', () => {
  it('joins consecutive // lines, and keeps trailing comments apart', () => {
    const source = `// one
// two
const a = 1; // three
// four

// five
const text = '// not a comment';
`;
    expect(readComments(source)).toEqual([
      { text: 'one\ntwo', line: 1 },
      { text: 'three', line: 3 },
      { text: 'four', line: 4 },
      { text: 'five', line: 6 },
    ]);
  });

  it('removes the marks of block comments, and skips directives', () => {
    const source = `/** One. */
/**
 * Two
 * lines.
 */
// biome-ignore lint/x: reason
/* three */`;
    expect(readComments(source).map(({ text }) => text)).toEqual(['One.', 'Two\nlines.', 'three']);
  });
});

describe('namesIdentifier', () => {
  it.each([
    'Returns `false`.',
    'Kept in maxBytes.',
    'A NacreError.',
    'See exit_code.',
    'Set by NACRE_HOME.',
    'Sent as SIGTERM.',
    'Fails with ENOENT.',
    'Uses realpath(3) or read().',
    'Reads index.jsonl.',
    'Found in /proc.',
    'Given by --json.',
  ])('accepts %j', (comment) => {
    expect(namesIdentifier(comment)).toBe(true);
  });

  it.each(['The number of records.', 'One HTTP call, e.g. of a client.', 'A and/or B: 1 (one) - two.'])(
    'rejects %j',
    (comment) => {
      expect(namesIdentifier(comment)).toBe(false);
    },
  );
});

describe('forbidden words', () => {
  it('are whole words in any case, and may be in backticks', () => {
    expect(forbiddenWords('Nobody mends what whoever broke, whatever it is.')).toEqual([
      'Nobody',
      'mends',
      'whoever',
      'whatever',
    ]);
    expect(forbiddenWords('Recommended amendments; runs as `nobody`.')).toEqual([]);
  });

  it('are found in comments and sentences, not in data', () => {
    const source = `// Made anew.
const user = 'nobody';
throw new Error(\`Somebody took \${name}.\`);`;
    expect(findInComments('a.ts', source)).toEqual([{ file: 'a.ts', line: 1, text: 'anew' }]);
    expect(findInTexts('a.ts', source)).toEqual([{ file: 'a.ts', line: 3, text: 'Somebody' }]);
  });

  it('are found in pages, not in code blocks', () => {
    const page = '# Title\n\n```sh\nsu nobody\n```\n\nFor whomever.\n';
    expect(findInPage('a.md', page)).toEqual([{ file: 'a.md', line: 7, text: 'whomever' }]);
  });

  it('are found in test titles', () => {
    const source = "it('x', f);\ntest.each([1])('nobody %s', f);";
    expect(findIn('a.test.ts', findTitles(source))).toEqual([{ file: 'a.test.ts', line: 2, text: 'nobody' }]);
  });
});

it('a riddle begins with What, Who, Whom, Whose or Whoever', () => {
  expect(
    ['What it is.', 'Who asks.', 'Whose it is.', 'Whom it serves.'].filter(opensWithRiddle),
  ).toHaveLength(4);
  expect(['Whether it is.', 'The one who asks.', 'Whole lines.'].filter(opensWithRiddle)).toEqual([]);
});
