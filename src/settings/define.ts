// One declaration of a setting, from which everything else is derived:
// 1. a folder's settings.ts declares schemas (schema.ts), each ending in `.meta({ env, flag, description, project })`
// 2. `defineSettings` throws at load for an invalid declaration
// 3. `inspectSetting` returns it as a `Setting`, from which flags, help, JSON Schema and reference are derived
import { type Kind, toKind } from './kind.ts';
import type { OutputOf, ProjectRule, Schema } from './schema.ts';

/** Settings by name, as the `settings.ts` of each folder declares them. */
export type Declarations = Readonly<Record<string, Schema>>;

/** Declarations under headings, for `toHelp` and `toReference`. */
export type SettingGroups = Readonly<Record<string, Declarations>>;

/** The values that a set of declarations resolves to. */
export type Values<D extends Declarations> = { readonly [K in keyof D]: OutputOf<D[K]> };

/** A declared setting with all defaults filled in. */
export interface Setting {
  readonly name: string;
  /** The name in a file: `ring_bytes` for `ringBytes`. */
  readonly key: string;
  readonly schema: Schema;
  readonly kind: Kind;
  readonly env: readonly string[];
  readonly flags: readonly string[];
  readonly description: string;
  readonly project: ProjectRule;
  readonly everything: string | undefined;
  readonly path: boolean;
  readonly accepts: string | undefined;
  readonly unset: string | undefined;
  readonly secret: boolean;
  readonly live: boolean;
  readonly implies: Readonly<Record<string, Readonly<Record<string, unknown>>>>;
}

/** Declares settings; throws at load for one without a description or with contradictory metadata. */
export function defineSettings<const D extends Declarations>(declarations: D): D {
  const settings = listSettings(declarations);
  for (const setting of settings) checkSetting(setting);
  checkUnique(settings.flatMap((setting) => [setting.key, ...setting.env, ...setting.flags]));
  return declarations;
}

/** The declared settings in declaration order. */
export function listSettings(declarations: Declarations): Setting[] {
  return Object.entries(declarations).map(([name, schema]) => inspectSetting(name, schema));
}

/** Reads one declaration into a `Setting`. */
export function inspectSetting(name: string, schema: Schema): Setting {
  const meta = schema.about;
  return {
    name,
    key: toFileKey(name),
    schema,
    kind: toKind(name, schema.shape),
    env: toList(meta.env),
    flags: toList(meta.flag),
    description: meta.description ?? '',
    project: meta.project ?? 'never',
    everything: meta.everything,
    path: meta.path ?? false,
    accepts: meta.accepts,
    unset: meta.unset,
    secret: meta.secret ?? false,
    live: meta.live ?? false,
    implies: meta.implies ?? {},
  };
}

function toFileKey(name: string): string {
  return name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
}

function toList(names: string | readonly string[] | undefined): readonly string[] {
  if (names === undefined) return [];
  return typeof names === 'string' ? [names] : names;
}

const kindsOf: Record<ProjectRule, readonly Kind['type'][]> = {
  intersect: ['list'],
  add: ['list'],
  alongside: ['list', 'records', 'map'],
  lower: ['int'],
  stricter: ['choice'],
  never: ['int', 'boolean', 'choice', 'text', 'list', 'records', 'map'],
};

function checkSetting(setting: Setting): void {
  const { name, kind } = setting;
  if (setting.description === '') throw new Error(`Setting ${name} has no description; .meta() comes last.`);
  if (!setting.schema.safeParse(undefined).success) {
    throw new Error(`Setting ${name} needs a default or .optional(), because no user has to set it.`);
  }
  if (!kindsOf[setting.project].includes(kind.type)) {
    throw new Error(`Setting ${name}: a project file cannot ${setting.project} a ${kind.type}.`);
  }
  for (const flag of setting.flags) {
    if (!/^(--[a-z][a-z0-9-]*|-[a-zA-Z])$/.test(flag) || flag.startsWith('--no-')) {
      throw new Error(`Setting ${name}: ${flag} is not a valid flag name.`);
    }
  }
}

function checkUnique(names: readonly string[]): void {
  const twice = names.find((name, index) => names.indexOf(name) !== index);
  if (twice !== undefined) throw new Error(`The name ${twice} is declared by two settings.`);
}
