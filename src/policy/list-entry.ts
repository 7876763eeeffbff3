import { isListed } from './match-rules.ts';
import type { Invocation } from './walk/survey.ts';

/** The program of an entry of an allow list: `git` for `git` and for `git status`. */
export function programOfEntry(entry: string): string {
  return wordsOf(entry)[0] ?? '';
}

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

/** Whether some command can match an entry; one with patterns, quotes, operators or a keyword is not a program's name. */
export function canMatch(entry: string): boolean {
  if (entry === '*') return true;
  const [program = '', ...words] = wordsOf(entry);
  if (program === '' || keywords.has(program) || /^-|^\w+=/.test(program)) return false;
  return [program, ...words].every((word) => !/[\s|&;<>()$`"'*?\\]/.test(word));
}

const keywords = new Set(
  'if then elif else fi for while until do done case esac select function in time { } ! [['.split(' '),
);

/** The entries for a program that require certain arguments. */
export function entriesWithWords(name: string, entries: readonly string[]): readonly string[] {
  return entries.filter((entry) => {
    const [program = '', ...words] = wordsOf(entry);
    return words.length > 0 && isListed(name, [program], []);
  });
}

function wordsOf(entry: string): string[] {
  return entry.split(' ').filter((word) => word !== '');
}
