import type { z } from 'zod';
import type { Setting } from './define.ts';
import { describeAccepted } from './describe.ts';
import { toNumber } from './units.ts';

/** Where a value was given. */
export type Source = 'flag' | 'environment' | 'project' | 'user' | 'program' | 'default';

/** Something wrong with what was given, and where it stands: a flag, a variable or a line of a file. */
export interface SettingProblem {
  readonly where: string;
  readonly message: string;
}

/** One value as a source gave it, not yet checked. */
export interface Offer {
  readonly setting: Setting;
  readonly source: Source;
  readonly where: string;
  readonly given: unknown;
  /** The folder of the file that gave it, with a slash at its end. */
  readonly folder?: string;
}

/** What a source gave, and what was wrong with it. */
export interface Offers {
  readonly offers: readonly Offer[];
  readonly problems: readonly SettingProblem[];
}

/** An offer whose value the setting's schema accepts. */
export interface CheckedOffer extends Offer {
  readonly value: unknown;
  /** The choice of another setting that gave it, or a part of it. */
  readonly givenBy?: string | undefined;
}

/** Reads an offered value as the setting's kind and checks it against the schema. */
export function checkOffer(offer: Offer): CheckedOffer | SettingProblem {
  const { setting, where, given } = offer;
  const result = setting.schema.safeParse(given === undefined ? null : toValue(setting, given));
  if (result.success) return { ...offer, value: setting.path ? besideFile(offer, result.data) : result.data };
  const detail = setting.kind.type === 'records' ? firstFault(setting.key, result.error) : undefined;
  const message =
    detail ??
    `${setting.key} cannot be ${setting.secret ? 'what was given' : show(given)}; it takes ${describeAccepted(setting)}.`;
  return { where, message };
}

/** Turns text into the setting's kind; whatever is not text, or not of that kind, is left to the schema. */
function toValue({ kind }: Setting, given: unknown): unknown {
  if (typeof given !== 'string') return given;
  switch (kind.type) {
    case 'int':
      return toNumber(given, kind.unit) ?? given;
    case 'boolean':
      return booleans.get(given.trim().toLowerCase()) ?? given;
    case 'choice':
      return given.trim();
    case 'text':
      return given;
    case 'list':
      return splitList(given);
    case 'records':
      return given;
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

/** A relative path in a file is meant from where the file is. */
function besideFile(offer: Offer, value: unknown): unknown {
  if (Array.isArray(value)) return value.map((item) => besideFile(offer, item));
  if (offer.folder === undefined || typeof value !== 'string' || value.startsWith('/')) return value;
  return `${offer.folder}${value}`;
}

/** Where in a list of objects something is wrong, counted from 1 as people do. */
function firstFault(key: string, error: z.ZodError): string | undefined {
  const [issue] = error.issues;
  if (issue === undefined || issue.path.length === 0) return undefined;
  const [index, ...path] = issue.path;
  const field = path.length === 0 ? '' : ` ${path.map(String).join('.')}`;
  const entry = `${key}, entry ${Number(index) + 1}`;
  const isMissing = issue.code === 'invalid_type' && issue.message.endsWith('received undefined');
  return isMissing ? `${entry}:${field} is missing.` : `${entry}${field}: ${issue.message}.`;
}

function show(given: unknown): string {
  return given === undefined ? 'empty' : JSON.stringify(given);
}
