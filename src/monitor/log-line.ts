import type { AuditRecord } from '../audit/read-records.ts';
import type { Values } from '../settings/define.ts';
import { escapeControls } from '../support/escape-controls.ts';
import { logLevels, type monitorSettings } from './settings.ts';

type Level = (typeof logLevels)[number];

/** The log line for a record, ending in a line break; null if `logLevel` excludes it. */
export function toLogLine(
  record: AuditRecord,
  { logLevel, logFormat }: Pick<Values<typeof monitorSettings>, 'logLevel' | 'logFormat'>,
): string | null {
  const level = levelOf(record);
  if (logLevels.indexOf(level) > logLevels.indexOf(logLevel)) return null;
  const { time, kind, id, door, client, seq: _seq, prev: _prev, ...rest } = record;
  if (logFormat === 'json')
    return `${JSON.stringify({ time, level, event: kind, id, door, client, ...rest })}\n`;
  const words = escapeControls(`${id} ${kind}: ${client}${describe(record)}`);
  return `nacre: ${time.slice(11, 23)} ${level.padEnd(5)} ${words}\n`;
}

function levelOf({ kind, code }: AuditRecord): Level {
  if (kind === 'refused') return 'warn';
  if (kind === 'failed') return code === 'cancelled' || code === 'shutting_down' ? 'info' : 'error';
  return infoKinds.has(kind) ? 'info' : 'debug';
}

const infoKinds: ReadonlySet<string> = new Set(['finished', 'skipped', 'approved', 'declined']);

function describe(record: AuditRecord): string {
  const { kind, command, status, exit_code, duration_ms, message, verdict, rule, reason } = record;
  if (kind === 'asked') return ` asks for ${JSON.stringify(command).slice(0, 200)}`;
  if (kind === 'decided') return `, ${verdict} by ${rule}`;
  if (kind === 'finished')
    return `, ${status} with ${exit_code === null ? 'unknown exit code' : `exit code ${exit_code}`} after ${duration_ms} ms`;
  const words = message ?? reason;
  return words === undefined ? '' : `, ${JSON.stringify(words)}`;
}
