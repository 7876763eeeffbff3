import type { LiteralPart, SimpleExpansionPart, Word } from 'unbash';
import { endOfName } from './word-shape.ts';

/** The parts of a word of the shape `quoted`, as the parser gives them, which would read the word once more. */
export function quotedParts({ text, pos }: Word): readonly (LiteralPart | SimpleExpansionPart)[] {
  const parts: (LiteralPart | SimpleExpansionPart)[] = [];
  const last = text.length - 1;
  for (let at = 1; at < last; ) {
    const dollar = text.indexOf('$', at);
    if (dollar !== at) parts.push(literal(text, at, dollar < 0 ? last : dollar, pos));
    if (dollar < 0) break;
    at = endOfName(text, dollar + 1);
    parts.push({
      type: 'SimpleExpansion',
      pos: pos + dollar,
      end: pos + at,
      text: text.slice(dollar, at),
    });
  }
  return parts;
}

function literal(word: string, from: number, to: number, pos: number): LiteralPart {
  const text = word.slice(from, to);
  return { type: 'Literal', pos: pos + from, end: pos + to, text, value: text };
}
