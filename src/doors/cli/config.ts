import { NacreError } from '../../contract/failure.ts';
import { didYouMean } from '../../settings/nearest.ts';
import type { SettingInForce, SettingNote } from '../../settings/setting-in-force.ts';
import type { Arguments, FlagAccess, IoAccess, SettingsAccess, VersionAccess } from '../door.ts';
import { failedExit } from '../exit-codes.ts';
import { print, toErrorText } from '../print.ts';

interface Flags {
  readonly json: boolean;
  readonly origin: boolean;
}

interface ShownSetting extends SettingInForce {
  readonly note?: SettingNote | undefined;
}

type ConfigDeps = FlagAccess<Flags> & IoAccess & Arguments & SettingsAccess & VersionAccess;

/** `nacre config`: prints all settings, or those named, with their values and origins. */
export async function configDoor(deps: ConfigDeps): Promise<number> {
  const { io, flags, words, settings, noteOnExec, warnings, newerCopy } = deps;
  for (const warning of [...warnings, ...newerCopy()]) await print(io.stderr, `nacre: warning: ${warning}\n`);
  try {
    const note = await noteOnExec();
    const wanted = choose(settings, words).map((one) => (one.key === 'exec' ? { ...one, note } : one));
    const toText = flags.origin ? toExplanations : toTable;
    await print(io.stdout, flags.json ? toDocument(wanted) : toText(wanted));
    return 0;
  } catch (error) {
    await print(io.stderr, toErrorText(error));
    return failedExit;
  }
}

function choose(settings: readonly SettingInForce[], words: readonly string[]): readonly SettingInForce[] {
  const keys = settings.map(({ key }) => key);
  const unknown = words.find((word) => !keys.includes(word));
  if (unknown !== undefined)
    throw new NacreError('invalid_request', `There is no setting ${unknown}.${didYouMean(unknown, keys)}`, {
      hint: 'Run nacre config to list them all.',
    });
  return words.length === 0 ? settings : settings.filter(({ key }) => words.includes(key));
}

function toDocument(settings: readonly ShownSetting[]): string {
  const entries = settings.map(({ key, value = null, limit, origin, note }) => {
    const { source, where, tightenedBy, impliedBy, outranked } = origin;
    const more = { given_by: impliedBy, tightened_by: tightenedBy, outranked: outranked ?? [] };
    return [key, { value, limit, note: note?.text, source, where, ...more }];
  });
  return `${JSON.stringify(Object.fromEntries(entries), null, 2)}\n`;
}

function toTable(settings: readonly ShownSetting[]): string {
  const width = Math.max(...settings.map(({ key }) => key.length));
  return settings
    .map(
      (one) =>
        `${one.key.padEnd(width)}  ${show(one.value)}  (${whereFrom(one)})${one.note === undefined ? '' : `; ${one.note.text}`}\n`,
    )
    .join('');
}

function whereFrom({ limit, origin: { where, tightenedBy } }: SettingInForce): string {
  if (tightenedBy === undefined) return where;
  return `${where}, ${limit === undefined ? 'tightened' : `limited to ${show(limit)}`} by ${tightenedBy}`;
}

function toExplanations(settings: readonly ShownSetting[]): string {
  return settings.map(toExplanation).join('');
}

function toExplanation({ key, value, limit, origin, note, isLive }: ShownSetting): string {
  const { source, where, tightenedBy, impliedBy, outranked = [] } = origin;
  const lines = [
    `${key}: ${show(value)}`,
    `  ${source === 'default' ? 'not set, so the default applies' : `set by ${where} (${sourceNames[source]})`}`,
    ...(impliedBy === undefined ? [] : [`  from the preset ${impliedBy}`]),
    ...outranked.map((one) => `  overrides ${one.where} (${sourceNames[one.source]}): ${show(one.value)}`),
    ...(tightenedBy === undefined
      ? []
      : [
          `  ${limit === undefined ? 'tightened' : `limited to ${show(limit)}`} by ${tightenedBy} (the project file)`,
        ]),
    ...(note === undefined ? [] : [`  ${note.text}`]),
    `  a change in your settings file takes effect ${isLive ? 'with the next command' : 'after a restart of the server'}`,
  ];
  return `${lines.join('\n')}\n`;
}

const sourceNames = {
  flag: 'a flag',
  environment: 'an environment variable',
  project: 'the project file',
  user: 'your settings file',
  program: 'the program',
  default: 'the default',
};

function show(value: unknown): string {
  return value === undefined ? 'unset' : JSON.stringify(value);
}
