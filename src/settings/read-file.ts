import { type Document, isMap, isNode, isScalar, LineCounter, parseDocument } from 'yaml';
import type { Candidate, Candidates, SettingProblem } from './candidate.ts';
import type { Setting } from './define.ts';
import { describePlaces } from './describe.ts';
import { suggestSetting } from './suggest-setting.ts';

/** The path and text of a settings file, such as `nacre.yaml`. */
export interface SettingsFile {
  readonly path: string;
  readonly text: string;
}

/** The candidates for these settings in a YAML file, whose keys are flat and in snake_case. */
export function candidatesFromFile(
  file: SettingsFile | undefined,
  source: 'project' | 'user',
  settings: readonly Setting[],
): Candidates {
  if (file === undefined) return { candidates: [], problems: [] };
  const { entries, problems } = readEntries(file);
  const byKey = new Map(settings.map((setting) => [setting.key, setting]));
  const folder = file.path.slice(0, file.path.lastIndexOf('/') + 1);
  const candidates: Candidate[] = [];
  for (const { key, where, raw } of entries) {
    const setting = byKey.get(key);
    const problem = refuseKey(key, setting, source, settings);
    if (problem !== undefined) problems.push({ where, message: problem });
    else if (setting) candidates.push({ setting, source, where, raw, folder });
  }
  return { candidates, problems };
}

interface Entry {
  readonly key: string;
  readonly where: string;
  readonly raw: unknown;
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
    return {
      entries: [],
      problems: [{ where: at(0), message: 'The file must be a mapping of keys to values.' }],
    };
  }
  return readPairs(document, document.contents.items, at);
}

/** True for a file with only comments, or only a `---` marker. */
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
      const raw = isNode(value) ? (value.toJS(document) ?? undefined) : undefined;
      entries.push({ key: String(isScalar(key) ? key.value : key), where, raw });
    } catch (error) {
      // `toJS` throws for an alias without an anchor, and for aliases that expand to too much data.
      problems.push({
        where,
        message: explain('BAD_ALIAS', error instanceof Error ? error.message : String(error)),
      });
    }
  }
  return { entries, problems };
}

function explain(code: string, message: string): string {
  if (code === 'DUPLICATE_KEY') return 'This key appears twice in the file; keep one.';
  if (code === 'MULTIPLE_DOCS') return 'The file has more than one YAML document; remove the line with ---.';
  const hint = code === 'BAD_ALIAS' ? ' Write "*" in quotes.' : '';
  return `The file is not valid YAML: ${message.replace(/\.?$/, '.')}${hint}`;
}

function refuseKey(
  key: string,
  setting: Setting | undefined,
  source: 'project' | 'user',
  settings: readonly Setting[],
): string | undefined {
  if (setting === undefined)
    return `There is no setting ${key}.${suggestSetting(key, settings, (one) => one.key)}`;
  if (source === 'user' || setting.project !== 'never') return undefined;
  return `${key} is not allowed in a project file; use ${describePlaces(setting)}.`;
}
