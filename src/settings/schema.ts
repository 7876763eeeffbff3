// Schemas of settings and flags. They are plain data with a small check, because every start of nacre needs all of them, and
// building the same schemas with a general library took as long as starting Node.
// 1. `s.int().min(1).max(9).default(3).meta({ … })` builds one, 2. `check` finds every issue of a value,
// 3. `kind.ts`, `fields-at.ts` and `to-json-schema.ts` read the same data.
import { checkShape, type Issue, type Shape } from './check-shape.ts';

/**
 * How a project file may tighten the value from other sources: `intersect` keeps entries that are in both lists, `add` adds
 * to a list of restrictions, `alongside` adds a second list that applies as well, `lower` allows a smaller number,
 * `stricter` allows a later option of a choice, `never` forbids the setting there.
 */
export type ProjectRule = 'intersect' | 'add' | 'alongside' | 'lower' | 'stricter' | 'never';

/** The part of a declaration that is not about its values. */
export interface SettingMeta {
  readonly description?: string;
  /** The environment variables that set it; a name that a specification prescribes comes first. */
  readonly env?: string | readonly string[];
  /** The flags that set it: `--name`, and `-n` if it has a short form. */
  readonly flag?: string | readonly string[];
  /** How a project file may tighten it; `never` by default. */
  readonly project?: ProjectRule;
  /** The list entry that matches everything, such as `*`. */
  readonly everything?: string;
  /** True for a path or a list of paths; a relative path in a file starts from that file's folder. */
  readonly path?: boolean;
  /** The accepted values in words, if the schema alone cannot describe them. */
  readonly accepts?: string;
  /** The behaviour while the setting is unset, in words. */
  readonly unset?: string;
  /** True if the value must never be displayed. */
  readonly secret?: boolean;
  /** True if a running server applies a change of the user's file from the next command on. */
  readonly live?: boolean;
  /** For each value of this setting, the values that it implies for other settings, by setting name. */
  readonly implies?: Readonly<Record<string, Readonly<Record<string, unknown>>>>;
}

/** The result of a check: the value to use, or every issue. */
export type Parsed<Output> =
  | { readonly success: true; readonly data: Output }
  | { readonly success: false; readonly issues: readonly Issue[] };

/** A schema whose values are of the type `Output`; a caller may pass any `Input`. */
export class Schema<Output = unknown, Input = unknown> {
  /** Exist only as types, for `OutputOf` and `InputOf`. */
  declare readonly output: Output;
  declare readonly input: Input;
  readonly shape: Shape;
  readonly about: SettingMeta;
  readonly isOptional: boolean;
  /** The value that replaces undefined. */
  readonly fallback: Output | undefined;

  constructor(shape: Shape, options: SchemaOptions<Output> = {}) {
    this.shape = shape;
    this.about = options.about ?? {};
    this.isOptional = options.isOptional ?? false;
    this.fallback = options.fallback;
  }

  /** A value may be left out, and is then `fallback`. Drops `meta`, which comes last. */
  default(fallback: Output): Schema<Output, Input | undefined> {
    return new Schema<Output, Input | undefined>(this.shape, { isOptional: true, fallback });
  }

  /** A value may be left out. Drops `meta`, which comes last. */
  optional(): Schema<Output | undefined, Input | undefined> {
    return new Schema<Output | undefined, Input | undefined>(this.shape, { isOptional: true });
  }

  /** Adds metadata that the schema itself cannot express. */
  meta(about: SettingMeta): Schema<Output, Input> {
    const { isOptional, fallback } = this;
    return new Schema<Output, Input>(this.shape, { about, isOptional, fallback });
  }

  /** The default; a copy, so that a caller that changes its value does not change the default of the next one. */
  whenUnset(): Output | undefined {
    return Array.isArray(this.fallback) ? ([...this.fallback] as Output) : this.fallback;
  }

  /** Checks a value of any type. */
  safeParse(value: unknown): Parsed<Output> {
    if (value === undefined && this.isOptional) return { success: true, data: this.whenUnset() as Output };
    const { issues, data } = checkShape(this.shape, value, []);
    return issues.length > 0 ? { success: false, issues } : { success: true, data: data as Output };
  }
}

interface SchemaOptions<Output> {
  readonly about?: SettingMeta;
  readonly isOptional?: boolean;
  readonly fallback?: Output | undefined;
}

/** The type of the values that a schema accepts and returns. */
export type OutputOf<S extends Schema> = S['output'];

/** The type that a caller may pass to a schema. */
export type InputOf<S extends Schema> = S['input'];

/** A whole number. */
export class IntSchema extends Schema<number, number> {
  declare readonly shape: Extract<Shape, { readonly type: 'int' }>;

  min(min: number): IntSchema {
    return new IntSchema({ ...this.shape, min });
  }

  max(max: number): IntSchema {
    return new IntSchema({ ...this.shape, max });
  }
}

/** A text. */
export class TextSchema<Input = string> extends Schema<string, Input> {
  declare readonly shape: Extract<Shape, { readonly type: 'text' }>;

  min(min: number): TextSchema<Input> {
    return new TextSchema<Input>({ ...this.shape, min });
  }

  max(max: number): TextSchema<Input> {
    return new TextSchema<Input>({ ...this.shape, max });
  }

  regex(pattern: RegExp, message?: string): TextSchema<Input> {
    return new TextSchema<Input>({ ...this.shape, pattern, message });
  }

  /** Also accepts a whole number, which YAML reads where people mean text; it becomes text. */
  orNumber(min: number, max: number): TextSchema<Input | number> {
    return new TextSchema<Input | number>({ ...this.shape, number: { type: 'int', min, max } });
  }

  /** Like `orNumber`, for numbers with decimals too. */
  orDecimal(min: number, max: number): TextSchema<Input | number> {
    const number = { type: 'int', min, max, hasDecimals: true } as const;
    return new TextSchema<Input | number>({ ...this.shape, number });
  }
}

/** A list of values of one kind. */
export class ListSchema<Item, Input> extends Schema<Item[], Input[]> {
  declare readonly shape: Extract<Shape, { readonly type: 'list' }>;

  min(min: number): ListSchema<Item, Input> {
    return new ListSchema<Item, Input>({ ...this.shape, min });
  }

  max(max: number): ListSchema<Item, Input> {
    return new ListSchema<Item, Input>({ ...this.shape, max });
  }
}

type Fields = Readonly<Record<string, Schema>>;
type Flat<T> = { [K in keyof T]: T[K] };
type OptionalOf<F extends Fields, Side extends 'output' | 'input'> = {
  [K in keyof F as undefined extends F[K][Side] ? K : never]?: F[K][Side];
};
type RequiredOf<F extends Fields, Side extends 'output' | 'input'> = {
  [K in keyof F as undefined extends F[K][Side] ? never : K]: F[K][Side];
};
type ObjectOf<F extends Fields, Side extends 'output' | 'input'> = Flat<
  RequiredOf<F, Side> & OptionalOf<F, Side>
>;

/** Builds schemas. */
export const s = {
  /** A whole number; settings need `min` and `max`. */
  int: () => new IntSchema({ type: 'int', min: Number.MIN_SAFE_INTEGER, max: Number.MAX_SAFE_INTEGER }),
  boolean: () => new Schema<boolean, boolean>({ type: 'boolean' }),
  text: () => new TextSchema({ type: 'text' }),
  /** One of several words. */
  choice: <const Option extends string>(options: readonly Option[]) =>
    new Schema<Option, Option>({ type: 'choice', options }),
  list: <Item, Input>({ shape }: Schema<Item, Input>) =>
    new ListSchema<Item, Input>({ type: 'list', item: shape }),
  /** Values of one kind by name; `message` says what `names` means, after the name. */
  map: <Item, Input>({ shape }: Schema<Item, Input>, names: RegExp, message: string) =>
    new Schema<Readonly<Record<string, Item>>, Readonly<Record<string, Input>>>({
      type: 'map',
      item: shape,
      names,
      message,
    }),
  /** An object with these fields and no others. */
  object: <F extends Fields>(fields: F) =>
    new Schema<ObjectOf<F, 'output'>, ObjectOf<F, 'input'>>({
      type: 'object',
      fields: Object.fromEntries(
        Object.entries(fields).map(([name, { shape, isOptional }]) => [name, { shape, isOptional }]),
      ),
    }),
};
