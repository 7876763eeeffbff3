import type { CommandSummary } from '../../audit/summarise-commands.ts';
import { oneLine, visible } from '../../support/visible.ts';

/** One command as one line for people. */
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
  const took = duration_ms === null ? '-' : `${duration_ms} ms`;
  return `${time}  ${id}  ${result.padEnd(11)}  ${took.padStart(8)}  ${visible(client)}: ${oneLine(command)}\n`;
}
