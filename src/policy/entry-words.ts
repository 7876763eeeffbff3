// Apart from list-entry.ts, because settings are checked at every start, without the policy engine.

/** The words of an entry of an allow list. */
export function wordsOf(entry: string): string[] {
  return entry.split(' ').filter((word) => word !== '');
}

/** The program of an entry of an allow list: `git` for `git` and for `git status`. */
export function programOfEntry(entry: string): string {
  return wordsOf(entry)[0] ?? '';
}

/** Whether some command can match an entry; one with patterns, quotes, operators or a keyword is not a program's name. */
export function canMatch(entry: string): boolean {
  if (entry === '*') return true;
  const [program = '', ...words] = wordsOf(entry);
  if (program === '' || keywords.has(program) || /^-|^\w+=/.test(program)) return false;
  return [program, ...words].every((word) => !/[\s|&;<>()$`"'*?\\]/.test(word));
}

// Without `time`, which is also a program: `env time ls` runs it.
const keywords = new Set(
  'if then elif else fi for while until do done case esac select function in { } ! [['.split(' '),
);
