import { wordsOf } from './entry-words.ts';
import { isListed } from './match-rules.ts';
import type { Invocation } from './walk/survey.ts';

/** Returns true if an allow list covers a program with its arguments; an entry `git status` requires these first words. */
export function isCovered(
  { name, args }: Pick<Invocation, 'name' | 'args'>,
  entries: readonly string[],
  programDirs: readonly string[],
): boolean {
  if (isListed(name, entries, programDirs)) return true;
  return entries.some((entry) => {
    const [program = '', ...words] = wordsOf(entry);
    if (words.length === 0 || !isListed(name, [program], programDirs)) return false;
    return words.every((word, index) => args[index]?.text === word);
  });
}

/** The first entry that covers a program with its arguments. */
export function findEntry(
  found: Pick<Invocation, 'name' | 'args'>,
  entries: readonly string[],
  programDirs: readonly string[],
): string | undefined {
  return entries.includes(found.name)
    ? found.name
    : entries.find((entry) => isCovered(found, [entry], programDirs));
}

/** The entries for a program that require certain arguments. */
export function entriesWithWords(name: string, entries: readonly string[]): readonly string[] {
  return entries.filter((entry) => {
    const [program = '', ...words] = wordsOf(entry);
    return words.length > 0 && isListed(name, [program], []);
  });
}
