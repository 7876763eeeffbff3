import { meaningsOf } from './synonyms.ts';

/** The known name that is most similar to a mistyped one; undefined if none is close. */
export function nearest(word: string, known: Iterable<string>): string | undefined {
  const names = [...known].filter((name) => name !== word);
  const finders = [findSpelling, findSynonym, findLonger, findAbbreviated, findClosest];
  for (const find of finders) {
    const found = find(word, names);
    if (found !== undefined) return found;
  }
  return undefined;
}

/** A sentence that suggests the nearest known name, or an empty string. */
export function didYouMean(word: string, known: Iterable<string>): string {
  const meant = nearest(word, known);
  return meant === undefined ? '' : ` Did you mean ${meant}?`;
}

type Finder = (word: string, names: readonly string[]) => string | undefined;

// `timeoutMs`, `timeout-ms` and `--timeout-ms` are spellings of `timeout_ms`.
const findSpelling: Finder = (word, names) => names.find((name) => toLetters(name) === toLetters(word));

const findSynonym: Finder = (word, names) => {
  const meant = meaningsOf(toSnakeCase(word));
  return meant.flatMap((one) => names.filter((name) => toSnakeCase(name) === one))[0];
};

// `timeout` is the beginning of `timeout_ms`, and a better match than `--timezone`.
const findLonger: Finder = (word, names) => {
  const beginning = toLetters(word);
  return beginning.length < 3
    ? undefined
    : onlyOne(names.filter((name) => toLetters(name).startsWith(beginning)));
};

// `cmnd` abbreviates `command`; that is a better match than `cwd`, which is only two edits away.
const findAbbreviated: Finder = (word, names) =>
  onlyOne(names.filter((name) => isShortFor(word.toLowerCase(), name.toLowerCase())));

const findClosest: Finder = (word, names) => {
  let best: string | undefined;
  // Allows 2 edits or a quarter of `word`, whichever is more, and for a short `word` at most half of its letters.
  let bestDistance = Math.min(Math.max(2, Math.floor(word.length / 4)), Math.ceil(word.length / 2)) + 1;
  for (const candidate of names) {
    const distance = editDistance(word.toLowerCase(), candidate.toLowerCase());
    if (distance < bestDistance) [best, bestDistance] = [candidate, distance];
  }
  return best;
};

function onlyOne(names: readonly string[]): string | undefined {
  return names.length === 1 ? names[0] : undefined;
}

function toSnakeCase(name: string): string {
  const words = name.replace(/^-+/, '').replace(/([a-z])([A-Z])/g, '$1_$2');
  return words.replaceAll('-', '_').toLowerCase();
}

function toLetters(name: string): string {
  return name.replace(/[-_]/g, '').toLowerCase();
}

function isShortFor(word: string, name: string): boolean {
  if (word.length < 3 || word.charAt(0) !== name.charAt(0)) return false;
  let at = 0;
  for (const letter of name) if (letter === word.charAt(at)) at += 1;
  return at === word.length;
}

function editDistance(a: string, b: string): number {
  let row = Array.from({ length: b.length + 1 }, (_, index) => index);
  for (let i = 1; i <= a.length; i++) row = nextRow(row, i, a.charAt(i - 1), b);
  return row.at(-1) ?? 0;
}

function nextRow(above: readonly number[], i: number, letter: string, b: string): number[] {
  const row = [i];
  for (let j = 1; j <= b.length; j++) {
    const replaced = (above[j - 1] ?? 0) + (letter === b.charAt(j - 1) ? 0 : 1);
    row.push(Math.min(replaced, (above[j] ?? 0) + 1, (row[j - 1] ?? 0) + 1));
  }
  return row;
}
