import { showCommand } from '../../contract/command.ts';
import type { ListedCommand } from '../../engine/commands/commands.ts';
import { oneLine } from '../../support/visible.ts';
import type { Assembly } from '../door.ts';
import { toSentences, write } from '../say.ts';
import { askServers } from './reach-servers.ts';

/** Lists the commands of every running server, and says which server did not answer. */
export async function open({ io, flags, controlDir }: Assembly): Promise<number> {
  const asked = await askServers<readonly ListedCommand[]>(controlDir, { method: 'list' });
  asked.close();
  const commands = asked.answered.flatMap(({ result }) => result);
  await write(io.stdout, flags.json ? `${JSON.stringify(commands, null, 2)}\n` : toTable(commands));
  await write(io.stderr, asked.failed.map(toSentences).join(''));
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
    oneLine(showCommand(command)),
  ]);
  const all = [['ID', 'NAME', 'STATUS', 'TIME', 'CPU', 'MEMORY', 'PORTS', 'COMMAND'], ...rows];
  const widths = [0, 1, 2, 3, 4, 5, 6].map((column) =>
    Math.max(...all.map((row) => row[column]?.length ?? 0)),
  );
  return all
    .map((row) => `${row.map((cell, column) => cell.padEnd(widths[column] ?? 0)).join('  ')}\n`)
    .join('');
}

// What nobody could look at yet is no figure.
function toSeconds(ms: number | null | undefined): string {
  return ms == null ? '-' : `${(ms / 1_000).toFixed(1)}s`;
}

function toMegabytes(bytes: number | null | undefined): string {
  return bytes == null ? '-' : `${Math.round(bytes / 1e6)}MB`;
}
