import type { Issue, Path, Shape } from './check-shape.ts';
import type { Setting } from './define.ts';
import { describeAccepted } from './describe.ts';
import { didYouMean } from './nearest.ts';
import { toNumber } from './units.ts';

/** The kind of source that set a value; `program` is an object passed to `createNacre`. */
export type Source = 'flag' | 'environment' | 'project' | 'user' | 'program' | 'default';

/** An invalid setting; `where` is the flag, the environment variable or the `path:line` that set it. */
export interface SettingProblem {
  readonly where: string;
  readonly message: string;
}

/** A value for a setting from one source, not yet checked by `checkCandidate`. */
export interface Candidate {
  readonly setting: Setting;
  readonly source: Source;
  readonly where: string;
  /** The value as written: text from a flag or variable, any YAML value from a file; undefined for an empty key. */
  readonly raw: unknown;
  /** The folder of the settings file, ending in a slash; relative paths start there. */
  readonly folder?: string;
}

/** The candidates that one source contains, and the problems found while reading it. */
export interface Candidates {
  readonly candidates: readonly Candidate[];
  readonly problems: readonly SettingProblem[];
}

/** A candidate whose `value` the setting's schema accepts. */
export interface CheckedCandidate extends Candidate {
  readonly value: unknown;
  /** The value of another setting, such as a preset's name, that implied it or a part of it. */
  readonly impliedBy?: string | undefined;
}

/** Converts `raw` to the setting's kind and checks it against the schema. */
export function checkCandidate(candidate: Candidate): CheckedCandidate | SettingProblem {
  const { setting, where, raw } = candidate;
  const result = setting.schema.safeParse(raw === undefined ? null : toValue(setting, raw));
  if (result.success)
    return { ...candidate, value: setting.path ? resolveInFolder(candidate, result.data) : result.data };
  const hasEntries = setting.kind.type === 'records' || setting.kind.type === 'map';
  const detail = hasEntries ? firstFault(setting, result.issues) : undefined;
  const message =
    detail ??
    `${setting.key} ${setting.secret ? 'has an invalid value' : `cannot be ${show(raw)}`}; expected ${describeAccepted(setting)}.`;
  return { where, message };
}

/** Converts text to the setting's kind; anything else is returned unchanged, for the schema to reject. */
function toValue({ kind }: Setting, raw: unknown): unknown {
  if (typeof raw !== 'string') return raw;
  switch (kind.type) {
    case 'int':
      return toNumber(raw, kind.unit) ?? raw;
    case 'boolean':
      return booleans.get(raw.trim().toLowerCase()) ?? raw;
    case 'choice':
      return raw.trim();
    case 'text':
      return raw;
    case 'list':
      return splitList(raw);
    case 'records':
    case 'map':
      return raw;
  }
}

const booleans = new Map([
  ...['true', 'yes', 'on', '1'].map((word) => [word, true] as const),
  ...['false', 'no', 'off', '0'].map((word) => [word, false] as const),
]);

function splitList(text: string): string[] {
  return text
    .split(',')
    .map((item) => item.trim())
    .filter((item) => item !== '');
}

/** Resolves a relative path in a settings file against the `folder` of that file. */
function resolveInFolder(candidate: Candidate, value: unknown): unknown {
  if (Array.isArray(value)) return value.map((item) => resolveInFolder(candidate, item));
  if (candidate.folder === undefined || typeof value !== 'string' || value.startsWith('/')) return value;
  return `${candidate.folder}${value}`;
}

/** Describes the first issue in a list of objects, whose entries are counted from 1, or in objects by name. */
function firstFault({ key, schema, kind }: Setting, issues: readonly Issue[]): string | undefined {
  // An unknown field is often the misspelled name of one that is then missing.
  const issue = issues.find(({ code }) => code === 'unknown_field') ?? issues[0];
  if (issue === undefined || issue.path.length === 0) return undefined;
  const [index, ...path] = issue.path;
  const inside = path.map(String).join('.');
  const entry = kind.type === 'map' ? `${key}.${index}` : `${key}, entry ${Number(index) + 1}`;
  if (issue.code === 'unknown_field')
    return `${entry}: there is no field ${JSON.stringify(issue.key)}${inside === '' ? '' : ` in ${inside}`}.${didYouMean(issue.key, fieldsAt(schema.shape, issue.path))}`;
  const field = inside === '' ? '' : ` ${inside}`;
  return issue.code === 'missing' ? `${entry}:${field} is missing.` : `${entry}${field} ${issue.message}.`;
}

/** The names of the fields of the object at `path` in a shape. */
function fieldsAt(shape: Shape, path: Path): readonly string[] {
  const [first, ...rest] = path;
  if (shape.type === 'list' || shape.type === 'map') return fieldsAt(shape.item, rest);
  if (shape.type !== 'object') return [];
  if (first === undefined) return Object.keys(shape.fields);
  const field = shape.fields[first];
  return field === undefined ? [] : fieldsAt(field.shape, rest);
}

function show(raw: unknown): string {
  return raw === undefined ? 'empty' : JSON.stringify(raw);
}
