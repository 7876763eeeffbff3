import type { ProgramCall } from '../options/program-call.ts';
import { wordText } from '../words/arg.ts';

/** The output of programs that turn known text into other text: `rev`, `tr` and `xxd -r`. */
export function decodedText(call: ProgramCall): string | undefined {
  const { stdin, name } = call;
  if (stdin === 'none' || stdin.more) return undefined;
  if (name === 'rev') return call.args.length === 0 ? reversed(stdin.text) : undefined;
  return name === 'xxd' ? fromHex(call, stdin.text) : translated(call, stdin.text);
}

function reversed(text: string): string {
  return text
    .split('\n')
    .map((line) => [...line].reverse().join(''))
    .join('\n');
}

function fromHex({ args }: ProgramCall, text: string): string | undefined {
  const letters = args.map(wordText).join('').replaceAll('-', '');
  const digits = text.replace(/\s/g, '');
  if (!/^(?:rp|pr)(?:rp|ps|p|r)?$/.test(letters) || !/^(?:[0-7][0-9a-f])*$/i.test(digits)) return undefined;
  return digits.replace(/../g, (pair) => String.fromCharCode(Number.parseInt(pair, 16)));
}

function translated({ args }: ProgramCall, text: string): string | undefined {
  const [one, other, ...more] = args.map(wordText);
  if (one === undefined || other === undefined || more.length > 0) return undefined;
  if (one === '-d') return withoutAny(text, expandSet(other));
  const from = expandSet(one);
  const to = expandSet(other);
  if (from === undefined || to === undefined || to.length === 0) return undefined;
  const table = new Map(from.map((character, index) => [character, to[index] ?? to.at(-1) ?? '']));
  return [...text].map((character) => table.get(character) ?? character).join('');
}

function withoutAny(text: string, set: readonly string[] | undefined): string | undefined {
  return set && [...text].filter((character) => !set.includes(character)).join('');
}

/** Expands ranges in a set of `tr`; undefined for options, classes and escapes. */
function expandSet(set: string): readonly string[] | undefined {
  if (!/^[\x20-\x7e]*$/.test(set) || /^-|\\|\[[:=.]|\*\d*\]/.test(set)) return undefined;
  const characters: string[] = [];
  for (let at = 0; at < set.length; at++) {
    const isRange = set.charAt(at + 1) === '-' && at + 2 < set.length;
    const last = isRange ? set.charCodeAt(at + 2) : set.charCodeAt(at);
    for (let code = set.charCodeAt(at); code <= last; code++) characters.push(String.fromCharCode(code));
    if (isRange) at += 2;
  }
  return characters;
}
