// Shapes of values that a worker sends. A shape copies the fields that it knows and throws for a wrong type, so that
// fields added by a hostile machine are neither kept in memory nor spread into replies. The compiler checks that no
// field of a type is missing.

/** Returns a value as `T`; throws a `ShapeError` if it is not one. */
export type FarShape<T> = (value: unknown) => T;

/** A value has another type than its shape. */
export class ShapeError extends Error {}

const mostEntries = 10_000;
const longestText = 65_536;

/** A text of bounded length. */
export function text(longest: number = longestText): FarShape<string> {
  return (value) =>
    typeof value === 'string' && value.length <= longest ? value : refuse(`a text of up to ${longest}`);
}

/** A number that is not negative, such as bytes or milliseconds. */
export const size: FarShape<number> = (value) => (isSize(value) ? value : refuse('a size'));

/** A whole number of bytes, processes or the like. */
export const count: FarShape<number> = (value) =>
  isSize(value) && Number.isInteger(value) ? value : refuse('a whole number');

/** True or false. */
export const flag: FarShape<boolean> = (value) => (typeof value === 'boolean' ? value : refuse('a boolean'));

/** The value true, for a field that is absent otherwise. */
export const always: FarShape<true> = (value) => (value === true ? value : refuse('true'));

/** A timestamp as ISO 8601 text. */
export const moment: FarShape<string> = (value) =>
  typeof value === 'string' && value.length < 64 && !Number.isNaN(Date.parse(value))
    ? value
    : refuse('a date');

/** One of some texts. */
export function oneOf<T extends string>(values: readonly T[]): FarShape<T> {
  return (value) => values.find((one) => one === value) ?? refuse(values.join(' or '));
}

/** The same, or null. */
export function orNull<T>(shape: FarShape<T>): FarShape<T | null> {
  return (value) => (value === null ? null : shape(value));
}

/** The same, or absent. */
export function optional<T>(shape: FarShape<T>): FarShape<T | undefined> {
  return (value) => (value === undefined ? undefined : shape(value));
}

/** A list of bounded length. */
export function listOf<T>(shape: FarShape<T>, most: number = mostEntries): FarShape<readonly T[]> {
  return (value) =>
    Array.isArray(value) && value.length <= most ? value.map((one) => shape(one)) : refuse('a list');
}

/** A list of bounded length without its malformed entries. */
export function wellFormed<T>(shape: FarShape<T>): FarShape<readonly T[]> {
  return (value) =>
    Array.isArray(value)
      ? value.slice(0, mostEntries).flatMap((one) => tryShape(shape, one))
      : refuse('a list');
}

/** A record: an object with arbitrary keys, whose values have one shape. */
export function table<T>(shape: FarShape<T>): FarShape<Readonly<Record<string, T>>> {
  // `fromEntries` defines properties, so that a key such as `__proto__` is one of them.
  return (value) =>
    Object.fromEntries(Object.entries(toObject(value)).map(([key, one]) => [key, shape(one)]));
}

/** The shapes of all fields of a type, also of optional ones. */
export type Fields<T> = { readonly [Key in keyof T]-?: FarShape<T[Key]> };

/** An object with these fields and no others. */
export function fields<T extends object>(shapes: Fields<T>): FarShape<T> {
  const known = Object.entries(shapes) as readonly (readonly [string, FarShape<unknown>])[];
  return (value) => {
    const found = toObject(value);
    const copied = known.flatMap(([key, shape]) => {
      const one = shape(Object.hasOwn(found, key) ? found[key] : undefined);
      return one === undefined ? [] : [[key, one] as const];
    });
    return Object.fromEntries(copied) as T;
  };
}

/** True for a finite number that is not negative, such as bytes or milliseconds. */
export function isSize(value: unknown): value is number {
  return (
    typeof value === 'number' && Number.isFinite(value) && value >= 0 && value <= Number.MAX_SAFE_INTEGER
  );
}

function tryShape<T>(shape: FarShape<T>, value: unknown): readonly T[] {
  try {
    return [shape(value)];
  } catch (error) {
    if (error instanceof ShapeError) return [];
    throw error;
  }
}

function toObject(value: unknown): Readonly<Record<string, unknown>> {
  if (typeof value === 'object' && value !== null && !Array.isArray(value))
    return value as Record<string, unknown>;
  return refuse('an object');
}

function refuse(wanted: string): never {
  throw new ShapeError(`It is not ${wanted}.`);
}
