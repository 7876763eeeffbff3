import { type Document, isMap, isNode, isScalar, LineCounter, parseDocument } from 'yaml';
import type { Setting } from './define.ts';
import { describePlaces } from './describe.ts';
import { didYouMean } from './nearest.ts';
import type { Offer, Offers, SettingProblem } from './offer.ts';

/** A settings file as the caller found it. */
export interface SettingsFile {
  readonly path: string;
  readonly text: string;
}

/** What a YAML file gives to these settings: flat keys in snake_case. */
export function offersFromFile(
  file: SettingsFile | undefined,
  source: 'project' | 'user',
  settings: readonly Setting[],
): Offers {
  if (file === undefined) return { offers: [], problems: [] };
  const { entries, problems } = readEntries(file);
  const byKey = new Map(settings.map((setting) => [setting.key, setting]));
  const folder = file.path.slice(0, file.path.lastIndexOf('/') + 1);
  const offers: Offer[] = [];
  for (const { key, where, given } of entries) {
    const setting = byKey.get(key);
    const problem = refuseKey(key, setting, source, byKey.keys());
    if (problem !== undefined) problems.push({ where, message: problem });
    else if (setting) offers.push({ setting, source, where, given, folder });
  }
  return { offers, problems };
}

interface Entry {
  readonly key: string;
  readonly where: string;
  readonly given: unknown;
}

interface Entries {
  readonly entries: readonly Entry[];
  readonly problems: SettingProblem[];
}

function readEntries(file: SettingsFile): Entries {
  const lineCounter = new LineCounter();
  const document = parseDocument(file.text, { lineCounter, prettyErrors: false });
  const at = (offset: number) => `${file.path}:${lineCounter.linePos(offset).line}`;
  const faults = [...document.errors, ...document.warnings];
  const problems = faults.map(({ pos, code, message }) => ({
    where: at(pos[0]),
    message: explain(code, message),
  }));
  if (problems.length > 0 || isEmpty(document.contents)) return { entries: [], problems };
  if (!isMap(document.contents)) {
    return { entries: [], problems: [{ where: at(0), message: 'The file must hold keys and values.' }] };
  }
  return readPairs(document, document.contents.items, at);
}

/** Nothing but comments, or a document marker with nothing below it. */
function isEmpty(contents: unknown): boolean {
  return contents === null || (isScalar(contents) && contents.value === null);
}

function readPairs(
  document: Document,
  pairs: readonly { readonly key: unknown; readonly value: unknown }[],
  at: (offset: number) => string,
): Entries {
  const entries: Entry[] = [];
  const problems: SettingProblem[] = [];
  for (const { key, value } of pairs) {
    const where = at(isNode(key) ? (key.range?.[0] ?? 0) : 0);
    try {
      const given = isNode(value) ? (value.toJS(document) ?? undefined) : undefined;
      entries.push({ key: String(isScalar(key) ? key.value : key), where, given });
    } catch (error) {
      // An alias without its anchor, or one that unfolds beyond measure.
      problems.push({
        where,
        message: explain('BAD_ALIAS', error instanceof Error ? error.message : String(error)),
      });
    }
  }
  return { entries, problems };
}

function explain(code: string, message: string): string {
  if (code === 'DUPLICATE_KEY') return 'This key stands twice in the file; keep one.';
  const hint = code === 'BAD_ALIAS' ? ' Write "*" in quotes.' : '';
  return `The file is not valid YAML: ${message.replace(/\.?$/, '.')}${hint}`;
}

function refuseKey(
  key: string,
  setting: Setting | undefined,
  source: 'project' | 'user',
  known: Iterable<string>,
): string | undefined {
  if (setting === undefined) return `There is no setting ${key}.${didYouMean(key, known)}`;
  if (source === 'user' || setting.project !== 'never') return undefined;
  return `${key} may not stand in a project file; use ${describePlaces(setting)}.`;
}
