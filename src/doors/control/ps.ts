import { showCommand } from '../../contract/command.ts';
import { localMachine } from '../../contract/machine.ts';
import type { ListedCommand } from '../../engine/commands/commands.ts';
import { askServers, type ServerFolder } from '../../servers/reach-servers.ts';
import { escapeControls, toOneLine } from '../../support/escape-controls.ts';
import type { DisplayAccess, FlagAccess, IoAccess } from '../door.ts';
import { type Paint, paintOutcome } from '../paint.ts';
import { print, toErrorText } from '../print.ts';
import { type Cell, type Column, layOutTable } from '../table.ts';

type PsDeps = FlagAccess<{ readonly json: boolean }> & IoAccess & DisplayAccess & ServerFolder;

/** Prints the commands of every running server, and an error for each server that did not reply. */
export async function psDoor(deps: PsDeps): Promise<number> {
  const { io, flags, display } = deps;
  const { replies, failed, close } = await askServers<readonly ListedCommand[]>(deps, { method: 'list' });
  close();
  const commands = replies.flatMap(({ result }) => result);
  const isElsewhere = commands.some(({ machine }) => machine !== undefined);
  const rows = commands.map((command) => toRow(command, display.paint, isElsewhere));
  const text = flags.json
    ? `${JSON.stringify(commands, null, 2)}\n`
    : layOutTable(columnsFor(isElsewhere), rows, display);
  await print(io.stdout, text);
  await print(io.stderr, failed.map(toErrorText).join(''));
  return 0;
}

const columnsFor = (isElsewhere: boolean): readonly Column[] => [
  { title: 'ID' },
  { title: 'NAME', isOptional: true },
  ...(isElsewhere ? [{ title: 'MACHINE' }] : []),
  { title: 'STATUS' },
  { title: 'TIME', isOptional: true },
  { title: 'CPU', isOptional: true },
  { title: 'MEMORY', isOptional: true },
  { title: 'PORTS', isOptional: true },
  { title: 'COMMAND' },
];

function toRow(
  { id, name, machine, command, state, look }: ListedCommand,
  paint: Paint,
  isElsewhere: boolean,
): readonly Cell[] {
  return [
    { text: id, paint: paint.name },
    { text: escapeControls(name ?? '-') },
    ...(isElsewhere ? [{ text: machine ?? localMachine }] : []),
    { text: state.status, paint: paintOutcome(state.status, paint) },
    { text: `${Math.round(state.durationMs / 1_000)}s` },
    { text: toSeconds(state.resources?.cpuMs) },
    { text: toMegabytes(state.resources?.peakMemoryBytes) },
    { text: look.listening.join(',') || '-' },
    { text: toOneLine(showCommand(command)) },
  ];
}

// `resources` is null until the command's processes have been measured once.
function toSeconds(ms: number | null | undefined): string {
  return ms == null ? '-' : `${(ms / 1_000).toFixed(1)}s`;
}

function toMegabytes(bytes: number | null | undefined): string {
  return bytes == null ? '-' : `${Math.round(bytes / 1e6)}MB`;
}
