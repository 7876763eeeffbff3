import { type Arg, knownArg, unknownArg } from '../words/arg.ts';

/** The words that a program makes of one text by blanks and quotes, without a shell: `env -S`, aliases, `PAGER`. */
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
  // A variable in the text is put in by the program, so its word is not known.
  return words.map((text) => (text.includes('$') ? unknownArg(arg) : knownArg(text, arg)));
}
