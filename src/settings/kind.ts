import type { Shape } from './check-shape.ts';
import { type Unit, unitOf } from './units.ts';

/** The kind of value that a setting's schema accepts. */
export type Kind =
  | { readonly type: 'int'; readonly min: number; readonly max: number; readonly unit: Unit | undefined }
  | { readonly type: 'boolean' }
  | { readonly type: 'choice'; readonly options: readonly string[] }
  | { readonly type: 'text' }
  | { readonly type: 'list'; readonly options: readonly string[] | undefined }
  /** A list of objects; only a settings file can express it. */
  | { readonly type: 'records' }
  /** Objects by name; only a settings file can express it. */
  | { readonly type: 'map' };

/** Returns the kind of a schema; throws for one that no flag, variable or file could express. */
export function toKind(name: string, shape: Shape): Kind {
  switch (shape.type) {
    case 'int':
      return toIntKind(name, shape);
    case 'boolean':
    case 'text':
      return { type: shape.type };
    case 'choice':
      return shape;
    case 'list':
      return toListKind(name, shape.item);
    case 'map':
      return { type: 'map' };
    case 'object':
      throw new Error(`Setting ${name} has a schema that cannot be set as text.`);
  }
}

function toIntKind(name: string, { min, max }: Extract<Shape, { type: 'int' }>): Kind {
  if (min <= Number.MIN_SAFE_INTEGER || max >= Number.MAX_SAFE_INTEGER)
    throw new Error(`Setting ${name} must be a whole number with bounds: use s.int().min().max().`);
  return { type: 'int', min, max, unit: unitOf(name) };
}

function toListKind(name: string, item: Shape): Kind {
  if (item.type === 'choice') return { type: 'list', options: item.options };
  if (item.type === 'text') return { type: 'list', options: undefined };
  if (item.type === 'object') return { type: 'records' };
  throw new Error(`Setting ${name} is a list of something that is neither text nor an object.`);
}
