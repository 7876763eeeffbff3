import { showCommand } from '../../contract/command.ts';
import type { ListedCommand } from '../../engine/commands/commands.ts';
import { toOneLine } from '../../support/escape-controls.ts';
import type { FlagAccess, IoAccess } from '../door.ts';
import { print, toErrorText } from '../print.ts';
import { askServers, type ServerFolder } from './reach-servers.ts';

type PsDeps = FlagAccess<{ readonly json: boolean }> & IoAccess & ServerFolder;

/** Prints the commands of every running server, and an error for each server that did not reply. */
export async function psDoor(deps: PsDeps): Promise<number> {
  const { io, flags } = deps;
  const { replies, failed, close } = await askServers<readonly ListedCommand[]>(deps, { method: 'list' });
  close();
  const commands = replies.flatMap(({ result }) => result);
  await print(io.stdout, flags.json ? `${JSON.stringify(commands, null, 2)}\n` : toTable(commands));
  await print(io.stderr, failed.map(toErrorText).join(''));
  return 0;
}

function toTable(commands: readonly ListedCommand[]): string {
  const rows = commands.map(({ id, name, command, state, look }) => [
    id,
    name ?? '-',
    state.status,
    `${Math.round(state.durationMs / 1_000)}s`,
    toSeconds(state.resources?.cpuMs),
    toMegabytes(state.resources?.peakMemoryBytes),
    look.listening.join(',') || '-',
    toOneLine(showCommand(command)),
  ]);
  const all = [['ID', 'NAME', 'STATUS', 'TIME', 'CPU', 'MEMORY', 'PORTS', 'COMMAND'], ...rows];
  const widths = [0, 1, 2, 3, 4, 5, 6].map((column) =>
    Math.max(...all.map((row) => row[column]?.length ?? 0)),
  );
  return all
    .map((row) => `${row.map((cell, column) => cell.padEnd(widths[column] ?? 0)).join('  ')}\n`)
    .join('');
}

// `resources` is null until the command's processes have been measured once.
function toSeconds(ms: number | null | undefined): string {
  return ms == null ? '-' : `${(ms / 1_000).toFixed(1)}s`;
}

function toMegabytes(bytes: number | null | undefined): string {
  return bytes == null ? '-' : `${Math.round(bytes / 1e6)}MB`;
}
