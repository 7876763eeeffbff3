import { type Arg, knownArg, unknownArg } from '../words/arg.ts';

/** Splits text at blanks and quotes without a shell, as `env -S`, git aliases and `PAGER` are split. */
export function splitWords(arg: Arg): Arg[] {
  if (arg.text === undefined) return [unknownArg(arg)];
  const words: string[] = [];
  let word: string | undefined;
  let quote = '';
  for (let at = 0; at < arg.text.length; at++) {
    const character = arg.text.charAt(at);
    if (quote !== '') {
      if (character === quote) quote = '';
      else if (character === '\\' && quote === '"') word += arg.text.charAt(++at);
      else word += character;
    } else if (character === '"' || character === "'") {
      quote = character;
      word ??= '';
    } else if (/\s/.test(character)) {
      if (word !== undefined) words.push(word);
      word = undefined;
    } else word = (word ?? '') + (character === '\\' ? arg.text.charAt(++at) : character);
  }
  if (word !== undefined) words.push(word);
  // The program substitutes variables itself, so a word with one is unknown.
  return words.map((text) => (text.includes('$') ? unknownArg(arg) : knownArg(text, arg)));
}
