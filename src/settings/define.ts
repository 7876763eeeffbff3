// One declaration of a setting, from which everything else is derived:
// 1. a folder's settings.ts declares zod schemas, each ending in `.meta({ env, flag, description, project })`
// 2. `defineSettings` refuses a declaration that could not be offered, at load
// 3. `inspectSetting` tells the other files of this folder what kind of value a setting takes
import type { z } from 'zod';
import { type Kind, toKind } from './kind.ts';

/**
 * What a project file may do with a setting. It can only tighten what the other sources gave:
 * `intersect` a list shrinks, `add` a list of restrictions grows, `alongside` a second list must hold as well,
 * `lower` a number gets smaller, `stricter` a choice moves towards the end of its list, `never` nothing.
 */
export type ProjectRule = 'intersect' | 'add' | 'alongside' | 'lower' | 'stricter' | 'never';

declare module 'zod' {
  interface GlobalMeta {
    /** The environment variables that give the setting; a specification's own name comes first. */
    env?: string | readonly string[];
    /** The flags that give the setting: `--name`, and `-n` where there is a short one. */
    flag?: string | readonly string[];
    /** What a project file may do with it; `never` when left out. */
    project?: ProjectRule;
    /** The word that stands for all there is in a list, such as `*`. */
    everything?: string;
    /** The value is a path, or a list of them; in a file it is relative to that file's folder. */
    path?: boolean;
    /** The accepted values in words, where the schema alone does not say them. */
    accepts?: string;
    /** What holds while the setting is unset, in words. */
    unset?: string;
    /** Its value is never shown. */
    secret?: boolean;
    /** A change of the user's file holds from the next command on, without a new server. */
    live?: boolean;
    /** What each choice gives to other settings, by their names, at the place where the choice stands. */
    gives?: Readonly<Record<string, Readonly<Record<string, unknown>>>>;
  }
}

/** Settings by name: the form in which every folder declares its own. */
export type Declarations = Readonly<Record<string, z.ZodType>>;

/** Declarations under headings, for help and reference. */
export type SettingGroups = Readonly<Record<string, Declarations>>;

/** The values that a set of declarations resolves to. */
export type Values<D extends Declarations> = { readonly [K in keyof D]: z.output<D[K]> };

/** One setting as the rest of this folder sees it. */
export interface Setting {
  readonly name: string;
  /** The name in a file: `ring_bytes` for `ringBytes`. */
  readonly key: string;
  readonly schema: z.ZodType;
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
  readonly gives: Readonly<Record<string, Readonly<Record<string, unknown>>>>;
}

/** Declares settings; throws at load for one that lacks a description or whose parts contradict each other. */
export function defineSettings<const D extends Declarations>(declarations: D): D {
  const settings = listSettings(declarations);
  for (const setting of settings) checkSetting(setting);
  checkUnique(settings.flatMap((setting) => [setting.key, ...setting.env, ...setting.flags]));
  return declarations;
}

/** Every setting of a set of declarations, in the order in which they are declared. */
export function listSettings(declarations: Declarations): Setting[] {
  return Object.entries(declarations).map(([name, schema]) => inspectSetting(name, schema));
}

/** What one declaration says, with the parts that were left out filled in. */
export function inspectSetting(name: string, schema: z.ZodType): Setting {
  const meta = schema.meta() ?? {};
  return {
    name,
    key: toFileKey(name),
    schema,
    kind: toKind(name, schema),
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
    gives: meta.gives ?? {},
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
  alongside: ['list', 'records'],
  lower: ['int'],
  stricter: ['choice'],
  never: ['int', 'boolean', 'choice', 'text', 'list', 'records'],
};

function checkSetting(setting: Setting): void {
  const { name, kind } = setting;
  if (setting.description === '') throw new Error(`Setting ${name} has no description; .meta() comes last.`);
  if (!setting.schema.safeParse(undefined).success) {
    throw new Error(`Setting ${name} needs a default or .optional(): nobody has to give it.`);
  }
  if (!kindsOf[setting.project].includes(kind.type)) {
    throw new Error(`Setting ${name}: a project file cannot ${setting.project} a ${kind.type}.`);
  }
  for (const flag of setting.flags) {
    if (!/^(--[a-z][a-z0-9-]*|-[a-zA-Z])$/.test(flag) || flag.startsWith('--no-')) {
      throw new Error(`Setting ${name}: ${flag} is not a flag's name.`);
    }
  }
}

function checkUnique(names: readonly string[]): void {
  const twice = names.find((name, index) => names.indexOf(name) !== index);
  if (twice !== undefined) throw new Error(`The name ${twice} is declared by two settings.`);
}
