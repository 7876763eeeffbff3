/** The values that a schema accepts, as data. */
export type Shape =
  | IntShape
  | { readonly type: 'boolean' }
  | { readonly type: 'choice'; readonly options: readonly string[] }
  | {
      readonly type: 'text';
      readonly min?: number;
      readonly max?: number;
      readonly pattern?: RegExp | undefined;
      /** Says what the pattern means, after the name of the field. */
      readonly message?: string | undefined;
      /** Numbers that are accepted as well. */
      readonly number?: IntShape;
    }
  | { readonly type: 'list'; readonly item: Shape; readonly min?: number; readonly max?: number }
  | { readonly type: 'object'; readonly fields: Readonly<Record<string, Field>> }
  | {
      /** Values of one kind by name. */
      readonly type: 'map';
      readonly item: Shape;
      readonly names: RegExp;
      /** Says what `names` means, after the name. */
      readonly message: string;
    };

interface IntShape {
  readonly type: 'int';
  readonly min: number;
  readonly max: number;
  /** True if it need not be whole. */
  readonly hasDecimals?: boolean | undefined;
}

/** A field of an object. */
export interface Field {
  readonly shape: Shape;
  readonly isOptional: boolean;
}

/** A problem of a value and its path in it. */
export type Issue =
  | { readonly code: 'missing' | 'invalid'; readonly path: Path; readonly message: string }
  | { readonly code: 'unknown_field'; readonly path: Path; readonly key: string; readonly message: string };

/** The keys and indices that lead to a part of a value. */
export type Path = readonly (string | number)[];

/** A checked value: `data` has numbers as text where the shape wants text. */
export interface CheckedValue {
  readonly data: unknown;
  readonly issues: readonly Issue[];
}

/** Finds every issue of a value at `path`. */
export function checkShape(shape: Shape, value: unknown, path: Path): CheckedValue {
  if (value === undefined)
    return { data: undefined, issues: [{ code: 'missing', path, message: 'is missing' }] };
  const found = (message: string | undefined): CheckedValue => ({
    data: value,
    issues: message === undefined ? [] : [{ code: 'invalid', path, message }],
  });
  switch (shape.type) {
    case 'int':
      return found(faultOfInt(shape, value));
    case 'boolean':
      return found(typeof value === 'boolean' ? undefined : `must be true or false, not ${nameOf(value)}`);
    case 'choice':
      return found(faultOfChoice(shape.options, value));
    case 'text':
      return checkText(shape, value, path);
    case 'list':
      return checkList(shape, value, path);
    case 'object':
      return checkObject(shape.fields, value, path);
    case 'map':
      return checkMap(shape, value, path);
  }
}

function faultOfInt({ min, max, hasDecimals }: IntShape, value: unknown): string | undefined {
  if (!(hasDecimals ? Number.isFinite(value) : Number.isSafeInteger(value)))
    return `must be a whole number, not ${nameOf(value)}`;
  return Number(value) < min || Number(value) > max ? `must be from ${min} to ${max}` : undefined;
}

function faultOfChoice(options: readonly string[], value: unknown): string | undefined {
  return typeof value === 'string' && options.includes(value) ? undefined : `must be ${options.join(' or ')}`;
}

function checkText(shape: Extract<Shape, { type: 'text' }>, value: unknown, path: Path): CheckedValue {
  if (typeof value === 'number' && shape.number) {
    const { issues } = checkShape(shape.number, value, path);
    return { data: String(value), issues };
  }
  const message = faultOfText(shape, value);
  return { data: value, issues: message === undefined ? [] : [{ code: 'invalid', path, message }] };
}

function faultOfText(
  { min = 0, max = Number.POSITIVE_INFINITY, pattern, message }: Extract<Shape, { type: 'text' }>,
  value: unknown,
): string | undefined {
  if (typeof value !== 'string') return `must be text, not ${nameOf(value)}`;
  if (value.length < min) return min === 1 ? 'must not be empty' : `must have at least ${min} characters`;
  if (value.length > max) return `must have at most ${max} characters`;
  return pattern === undefined || pattern.test(value) ? undefined : (message ?? `must match ${pattern}`);
}

function checkList(
  { item, min = 0, max = Number.POSITIVE_INFINITY }: Extract<Shape, { type: 'list' }>,
  value: unknown,
  path: Path,
): CheckedValue {
  if (!Array.isArray(value))
    return {
      data: value,
      issues: [{ code: 'invalid', path, message: `must be a list, not ${nameOf(value)}` }],
    };
  const entries = value.map((entry: unknown, index) => checkShape(item, entry, [...path, index]));
  const fault =
    (value.length < min && `must have at least ${min} ${min === 1 ? 'entry' : 'entries'}`) ||
    (value.length > max && `must have at most ${max} entries`);
  return {
    data: entries.map(({ data }) => data),
    issues: [
      ...entries.flatMap(({ issues }) => issues),
      ...(fault ? [{ code: 'invalid' as const, path, message: fault }] : []),
    ],
  };
}

function checkObject(fields: Readonly<Record<string, Field>>, value: unknown, path: Path): CheckedValue {
  if (typeof value !== 'object' || value === null || Array.isArray(value))
    return {
      data: value,
      issues: [{ code: 'invalid', path, message: `must be an object, not ${nameOf(value)}` }],
    };
  const given = new Map<string, unknown>(Object.entries(value));
  const known = Object.entries(fields)
    .filter(([name, { isOptional }]) => !isOptional || given.get(name) !== undefined)
    .map(([name, field]) => [name, checkShape(field.shape, given.get(name), [...path, name])] as const);
  const unknown = [...given.keys()].filter((name) => !Object.hasOwn(fields, name));
  return {
    data: Object.fromEntries(known.map(([name, { data }]) => [name, data])),
    issues: [
      ...known.flatMap(([, { issues }]) => issues),
      ...unknown.map((key) => ({
        code: 'unknown_field' as const,
        path,
        key,
        message: `has no field ${key}`,
      })),
    ],
  };
}

function checkMap(
  { item, names, message }: Extract<Shape, { type: 'map' }>,
  value: unknown,
  path: Path,
): CheckedValue {
  if (typeof value !== 'object' || value === null || Array.isArray(value))
    return {
      data: value,
      issues: [{ code: 'invalid', path, message: `must be a mapping of names, not ${nameOf(value)}` }],
    };
  const entries = Object.entries(value).map(([name, entry]) => {
    const at = [...path, name];
    // An entry without a value, such as `local:`, is an empty object in YAML's way of writing.
    const checked = checkShape(item, entry ?? {}, at);
    const fault = names.test(name) ? [] : [{ code: 'invalid' as const, path: at, message }];
    return { name, data: checked.data, issues: [...fault, ...checked.issues] };
  });
  return {
    data: Object.fromEntries(entries.map(({ name, data }) => [name, data])),
    issues: entries.flatMap(({ issues }) => issues),
  };
}

function nameOf(value: unknown): string {
  if (value === null) return 'null';
  if (Array.isArray(value)) return 'a list';
  if (typeof value === 'object') return 'an object';
  return typeof value === 'number' ? String(value) : typeof value === 'string' ? 'text' : String(value);
}
