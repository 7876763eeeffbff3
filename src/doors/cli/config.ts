import type { Assembly, SettingInForce } from '../door.ts';
import { write } from '../say.ts';

/** Shows every setting with its value and where it came from. */
export async function open({ io, flags, settings, warnings }: Assembly): Promise<number> {
  for (const warning of warnings) await write(io.stderr, `nacre: warning: ${warning}\n`);
  await write(io.stdout, flags.json === true ? toDocument(settings) : toTable(settings));
  return 0;
}

function toDocument(settings: readonly SettingInForce[]): string {
  const entries = settings.map(({ key, value = null, limit, origin: { source, where, tightenedBy } }) => [
    key,
    { value, limit, source, where, tightened_by: tightenedBy },
  ]);
  return `${JSON.stringify(Object.fromEntries(entries), null, 2)}\n`;
}

function toTable(settings: readonly SettingInForce[]): string {
  const width = Math.max(...settings.map(({ key }) => key.length));
  return settings
    .map((one) => `${one.key.padEnd(width)}  ${show(one.value)}  (${whereFrom(one)})\n`)
    .join('');
}

function whereFrom({ limit, origin: { where, tightenedBy } }: SettingInForce): string {
  if (tightenedBy === undefined) return where;
  return `${where}, ${limit === undefined ? 'tightened' : `limited to ${show(limit)}`} by ${tightenedBy}`;
}

function show(value: unknown): string {
  return value === undefined ? 'unset' : JSON.stringify(value);
}
