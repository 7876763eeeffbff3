import { blankComments } from './blank-comments.ts';
import type { Requirement } from './requirements.ts';

/** Requirement ids, each with the files whose tests name it. */
export type Citations = ReadonlyMap<string, readonly string[]>;

/** Finds the requirement ids in titles of tests and suites, and in scenarios and tags of features. */
export function findCitations(files: ReadonlyMap<string, string>): Citations {
  const citations = new Map<string, string[]>();
  for (const [path, source] of files) {
    const titles = path.endsWith('.feature')
      ? featureTitles(source)
      : findTitles(source).map(({ text }) => text);
    for (const id of new Set(titles.flatMap(idsOf))) citations.set(id, [...(citations.get(id) ?? []), path]);
  }
  return citations;
}

/** Lists built requirements that no test names, and ids in tests that do not exist. */
export function findGaps(
  requirements: Readonly<Record<string, Requirement>>,
  citations: Citations,
): string[] {
  const unproved = Object.entries(requirements)
    .filter(([id, { built }]) => built && !citations.has(id))
    .map(([id]) => `${id} is marked built, but no test names it`);
  const unknown = [...citations]
    .filter(([id]) => !Object.hasOwn(requirements, id))
    .map(([id, paths]) => `${id} does not exist, but is named in ${paths.join(', ')}`);
  return [...unproved, ...unknown];
}

function idsOf(title: string): string[] {
  return title.match(/\b[TSBHPE]\d{1,2}\b/g) ?? [];
}

/** The first arguments of `it`, `test` and `describe` calls, including `each`, with their lines; skipped tests do not count. */
export function findTitles(source: string): { readonly text: string; readonly line: number }[] {
  const title =
    /(?:\b(?:it|test|describe)(?:\.\w+)*|[)`])\(\s*(?:'((?:\\.|[^'\\])*)'|"((?:\\.|[^"\\])*)"|`((?:\\.|[^`\\])*)`)/g;
  return [...blankComments(source).matchAll(title)]
    .filter(([call]) => !/^\w+\.(?:\w+\.)*(?:skip|todo)\b/.test(call))
    .map(({ 0: call, 1: single, 2: double, 3: template, index }) => ({
      text: single ?? double ?? template ?? '',
      line: source.slice(0, index + call.length).split('\n').length,
    }));
}

function featureTitles(source: string): string[] {
  return source
    .split('\n')
    .map((line) => line.trim())
    .filter((line) => /^(?:@|(?:Feature|Rule|Scenario|Scenario Outline|Example):)/.test(line));
}
