import type { ListedCommand } from '../../engine/commands/commands.ts';
import type { Reading } from '../../engine/reading/read-command.ts';
import { readRecording } from '../../recordings/recordings.ts';
import { askServers, type ServerFolder } from '../../servers/reach-servers.ts';
import { withoutTrailing } from '../../support/without-trailing.ts';
import { printable } from '../terminal-text.ts';

/** The output of a command that is still available. */
export interface KeptOutput {
  /** `server`: a running server still has it; `recording`: it was recorded. */
  readonly source: 'server' | 'recording';
  /** Without control sequences, cut at the front to `maxChars`. */
  readonly text: string;
  readonly truncated: boolean;
}

const maxChars = 5_000_000;
const pieceChars = 200_000;

/** Looks for the output of a command: in every running server, then in the recordings. */
export async function findOutput(
  folder: ServerFolder & { readonly recordingDir: string },
  id: string,
): Promise<KeptOutput | undefined> {
  return (await readFromServer(folder, id)) ?? readFromRecording(folder.recordingDir, id);
}

async function readFromServer(folder: ServerFolder, id: string): Promise<KeptOutput | undefined> {
  const { replies, close } = await askServers<readonly ListedCommand[]>(folder, { method: 'list' });
  try {
    const found = replies.find(({ result }) => result.some((command) => command.id === id));
    if (!found) return undefined;
    let text = '';
    for (let cursor = 0; ; ) {
      const query = { waitMs: 0, cursor, maxChars: pieceChars, keep: 'beginning', view: 'clean' } as const;
      const reading = (await found.server.call({ method: 'read', id, query })) as Reading;
      text += reading.stdout + reading.stderr;
      if (reading.next === cursor) return { source: 'server', ...cutFront(text) };
      cursor = reading.next;
    }
  } catch {
    // The command was forgotten or its server ended meanwhile; a recording may still have its output.
    return undefined;
  } finally {
    close();
  }
}

function readFromRecording(dir: string, id: string): KeptOutput | undefined {
  try {
    const { events } = readRecording(dir, id);
    const raw = events.flatMap(({ code, data }) => (code === 'o' ? [data] : [])).join('');
    return { source: 'recording', ...cutFront(toPlainText(raw)) };
  } catch {
    return undefined;
  }
}

function cutFront(text: string): Pick<KeptOutput, 'text' | 'truncated'> {
  const truncated = text.length > maxChars;
  return { text: truncated ? text.slice(-maxChars).toWellFormed() : text, truncated };
}

const controlSequence = /\u001b(?:\[[0-?]*[ -/]*[@-~]|\][^\u0007\u001b]*(?:\u0007|\u001b\\)?|[@-_])/g;

// A recording has the bytes that a terminal got. If a line was redrawn, only its last version is shown.
function toPlainText(raw: string): string {
  const lines = raw.replace(controlSequence, '').replaceAll('\r\n', '\n').split('\n');
  return lines.map((line) => printable(withoutTrailing(line, '\r').split('\r').at(-1) ?? '')).join('\n');
}
