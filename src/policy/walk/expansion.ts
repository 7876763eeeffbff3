import type { Piece, Value } from '../words/arg.ts';
import { limits } from '../words/limits.ts';
import type { Chunk } from './split-fields.ts';
import type { WalkSite } from './walk.ts';

/** The site of an expansion; `mode` says whether bash splits the result into fields. */
export interface Expansion extends WalkSite {
  readonly mode: 'fields' | 'single';
}

/** Returns the chunks of each possible value, split unless quoted. */
export function expansionChunks(expansion: Expansion, values: readonly Value[], quoted: boolean): Chunk[][] {
  const { walk, scope, mode } = expansion;
  const whole = quoted || mode === 'single';
  const [only] = values;
  if (values.length === 1 && only !== undefined) return [walk.split(only, whole, scope)];
  return values.map((value) => walk.split(value, whole, scope));
}

/** Returns a chunk that bash does not split. */
export function certain(pieces: readonly Piece[]): Chunk {
  const [only] = pieces;
  return pieces.length === 1 && typeof only === 'string' ? only : { pieces, quoted: true, many: false };
}

/** Joins every pair of forms; beyond `limits.combinations`, uses each form at least once and adds `rest` for the others. */
export function combine<T>(
  left: readonly T[],
  right: readonly T[],
  join: (one: T, other: T) => T,
  rest: T,
): T[] {
  if (left.length * right.length <= limits.combinations) {
    return left.flatMap((one) => right.map((other) => join(one, other)));
  }
  const forms: T[] = [rest];
  const count = Math.min(Math.max(left.length, right.length), limits.combinations - 1);
  for (let index = 0; index < count; index++) {
    const one = left[index % left.length];
    const other = right[index % right.length];
    if (one !== undefined && other !== undefined) forms.push(join(one, other));
  }
  return forms;
}
