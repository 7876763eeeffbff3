import type { Setting } from './define.ts';

/** The result of applying a project file to a value. */
export interface Tightened {
  readonly value: unknown;
  /** A second restriction that applies besides `value`, if the two cannot be merged. */
  readonly limit?: unknown;
}

/** Applies the project file's value to the `base` value from other sources; the result never allows more. */
export function tighten(setting: Setting, base: unknown, project: unknown): Tightened {
  switch (setting.project) {
    case 'intersect':
      return isTexts(project) ? intersect(base, project, setting.everything) : { value: base };
    case 'add':
      return { value: [...new Set([...toTexts(base), ...toTexts(project)])] };
    case 'alongside':
      return isEmpty(project) ? { value: base } : { value: base, limit: project };
    case 'lower':
      return { value: lower(base, project) };
    case 'stricter':
      return { value: stricter(setting, base, project) };
    case 'never':
      return { value: base };
  }
}

/** The entries of `list` that `limit` also contains; `everything` matches all entries; without a limit, all are kept. */
export function narrowList(
  list: readonly string[],
  limit: readonly string[] | undefined,
  everything: string | undefined,
): readonly string[] {
  const isAll = (items: readonly string[]) => everything !== undefined && items.includes(everything);
  if (limit === undefined || isAll(limit)) return list;
  if (isAll(list)) return limit;
  return everything === undefined
    ? list.filter((item) => limit.includes(item))
    : [...new Set(list.flatMap((item) => limit.flatMap((other) => narrower(item, other))))];
}

/** `git` and `git status` narrow to `git status`: an entry of a list of programs may have first words. */
function narrower(one: string, other: string): string[] {
  if (one === other || one.startsWith(`${other} `)) return [one];
  return other.startsWith(`${one} `) ? [other] : [];
}

/** Only the code that uses a setting knows the meaning of an unset list, so it gets the project's list as `limit`. */
function intersect(base: unknown, project: readonly string[], everything: string | undefined): Tightened {
  if (!isTexts(base)) return { value: base, limit: project };
  return { value: narrowList(base, project, everything) };
}

function lower(base: unknown, project: unknown): unknown {
  return typeof base === 'number' && typeof project === 'number'
    ? Math.min(base, project)
    : (base ?? project);
}

function stricter({ kind }: Setting, base: unknown, project: unknown): unknown {
  const rank = (value: unknown) => (kind.type === 'choice' ? kind.options.indexOf(String(value)) : -1);
  return rank(project) > rank(base) ? project : base;
}

function isEmpty(value: unknown): boolean {
  return typeof value !== 'object' || value === null || Object.keys(value).length === 0;
}

function isTexts(value: unknown): value is readonly string[] {
  return Array.isArray(value);
}

function toTexts(value: unknown): readonly string[] {
  return isTexts(value) ? value : [];
}
