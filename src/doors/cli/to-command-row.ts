import type { CommandSummary } from '../../audit/summarise-commands.ts';
import { escapeControls, toOneLine } from '../../support/escape-controls.ts';

/** One command as a row of `nacre history` and `nacre audit show`. */
export function toCommandRow({
  time,
  id,
  client,
  outcome,
  exit_code,
  duration_ms,
  command,
}: CommandSummary): string {
  const result = exit_code === null || outcome === 'completed' ? outcome : `${outcome} ${exit_code}`;
  const duration = duration_ms === null ? '-' : `${duration_ms} ms`;
  return `${time}  ${id}  ${result.padEnd(11)}  ${duration.padStart(8)}  ${escapeControls(client)}: ${toOneLine(command)}\n`;
}
