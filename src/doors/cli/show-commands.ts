import type { CommandSummary } from '../../audit/summarise-commands.ts';
import { escapeControls, toOneLine } from '../../support/escape-controls.ts';
import type { DisplayAccess, IoAccess } from '../door.ts';
import { type Paint, paintOutcome } from '../paint.ts';
import { print } from '../print.ts';
import { type Cell, type Column, layOutTable } from '../table.ts';
import { toLocalTime, toShortDuration } from '../terminal-text.ts';

/**
 * Prints past commands for `nacre history` and `nacre audit show`: a table with local times for people, or one row per
 * command with UTC times for scripts.
 */
export async function showCommands(
  commands: readonly CommandSummary[],
  { io, display }: IoAccess & DisplayAccess,
): Promise<void> {
  if (display.isForPeople) {
    const rows = commands.map((command) => toCells(command, display.paint));
    return print(io.stdout, layOutTable(columns, rows, display), io.interrupted);
  }
  for (const command of commands) await print(io.stdout, toPlainRow(command), io.interrupted);
}

const columns: readonly Column[] = [
  { title: 'STARTED', isOptional: true },
  { title: 'ID' },
  { title: 'OUTCOME' },
  { title: 'TOOK', alignRight: true, isOptional: true },
  { title: 'CLIENT', isOptional: true },
  { title: 'COMMAND' },
];

function toCells(command: CommandSummary, paint: Paint): readonly Cell[] {
  const outcome = escapeControls(toResult(command));
  return [
    { text: toLocalTime(command.time), paint: paint.faint },
    { text: escapeControls(command.id), paint: paint.name },
    { text: outcome, paint: paintOutcome(outcome, paint) },
    { text: command.duration_ms === null ? '-' : toShortDuration(command.duration_ms) },
    { text: toOneLine(command.client) },
    { text: toOneLine(command.command) },
  ];
}

function toPlainRow(command: CommandSummary): string {
  const { time, id, client, duration_ms } = command;
  const duration = duration_ms === null ? '-' : `${duration_ms} ms`;
  const details = `${toResult(command).padEnd(11)}  ${duration.padStart(8)}`;
  return `${time}  ${id}  ${details}  ${escapeControls(client)}: ${toOneLine(command.command)}\n`;
}

function toResult({ outcome, exit_code }: CommandSummary): string {
  return exit_code === null || outcome === 'completed' ? outcome : `${outcome} ${exit_code}`;
}
