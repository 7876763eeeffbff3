import type { LiteralPart, ParameterExpansionPart, SimpleExpansionPart, Word } from 'unbash';
import { endOfVariable } from './word-shape.ts';

type QuotedPart = LiteralPart | SimpleExpansionPart | ParameterExpansionPart;

/** Returns the parts of a word of the shape `quoted` as unbash would, without having it parse the word again. */
export function quotedParts({ text, pos }: Word): readonly QuotedPart[] {
  const parts: QuotedPart[] = [];
  const last = text.length - 1;
  for (let at = 1; at < last; ) {
    const dollar = text.indexOf('$', at);
    if (dollar !== at) parts.push(literal(text, at, dollar < 0 ? last : dollar, pos));
    if (dollar < 0) break;
    at = endOfVariable(text, dollar + 1);
    parts.push(variable(text.slice(dollar, at), pos + dollar));
  }
  return parts;
}

function literal(word: string, from: number, to: number, pos: number): LiteralPart {
  const text = word.slice(from, to);
  return { type: 'Literal', pos: pos + from, end: pos + to, value: text, text };
}

function variable(text: string, pos: number): QuotedPart {
  const end = pos + text.length;
  if (!text.startsWith('${')) return { type: 'SimpleExpansion', pos, end, text };
  return {
    type: 'ParameterExpansion',
    pos,
    end,
    text,
    parameter: text.slice(2, -1),
    parameterPos: pos + 2,
    parameterEnd: end - 1,
    prefix: undefined,
    index: undefined,
    operation: undefined,
  };
}
