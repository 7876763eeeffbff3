import type { AuditRecord } from '../audit/read-records.ts';
import type { Values } from '../settings/define.ts';
import { escapeControls } from '../support/escape-controls.ts';
import { logLevels, type monitorSettings } from './settings.ts';

type Level = (typeof logLevels)[number];

type LogSettings = Pick<Values<typeof monitorSettings>, 'logLevel' | 'logFormat'>;

/** Creates a function like `toLogLine` that adds the command to the line about its end. */
export function createLogLines(settings: LogSettings): (record: AuditRecord) => string | null {
  // Ended commands are removed, so there is one entry per running command.
  const commands = new Map<string, unknown>();
  return (record) => {
    const { id, kind, command } = record;
    if (kind === 'asked') commands.set(id, command);
    const known = commands.get(id);
    if (kind === 'finished' || kind === 'refused' || kind === 'failed') commands.delete(id);
    const isEnd = kind !== 'asked' && levelOf(record) !== 'debug' && known !== undefined;
    return toLogLine(isEnd ? { ...record, command: known } : record, settings);
  };
}

/** The log line for a record, ending in a line break; null if `logLevel` excludes it. */
export function toLogLine(record: AuditRecord, { logLevel, logFormat }: LogSettings): string | null {
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
  if (kind === 'asked') return ` asks for ${show(command)}`;
  if (kind === 'decided') return `, ${verdict} by ${rule}`;
  const asked = command === undefined ? '' : `, ${show(command)}`;
  if (kind === 'finished')
    return `${asked}, ${status} with ${exit_code === null ? 'unknown exit code' : `exit code ${exit_code}`} after ${duration_ms} ms`;
  const words = message ?? reason;
  return words === undefined ? asked : `${asked}, ${JSON.stringify(words)}`;
}

function show(command: unknown): string {
  return JSON.stringify(command).slice(0, 200);
}
