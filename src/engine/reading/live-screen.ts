import type { Backend } from '../../contract/backend.ts';
import type { Cursor, TerminalSize } from '../../contract/job.ts';
import type { Screen } from '../../contract/screen.ts';
import { type EmulatedTerminal, emulateTerminal } from '../../output/emulate-terminal.ts';
import { createBell } from '../../support/bell.ts';
import { createStopwatch } from '../../support/stopwatch.ts';

/** A screen that follows its command from the start. */
export interface LiveScreen extends Screen {
  /** Follows the command, which runs by now, to its end. */
  follow(id: string): void;
}

const waitMs = 60_000;
const pieceBytes = 65_536;
// Who prints faster than that is not read line by line by anybody; the last of it makes the screen.
const mostBehindBytes = 1_048_576;
const catchUpMs = 2_000;

/** Makes the screen of a command that is about to start. */
export async function createLiveScreen(
  backend: Pick<Backend, 'read' | 'write'>,
  size: TerminalSize,
): Promise<LiveScreen> {
  const moved = createBell();
  let command: string | undefined;
  let at: Cursor = 0;
  const answer = (text: string) => {
    if (command !== undefined) backend.write(command, Buffer.from(text)).catch(() => {});
  };
  const terminal = await emulateTerminal(size, answer);

  const keepUp = async (id: string) => {
    for (let isFinal = false; !isFinal; moved.ring()) {
      const step = await takeStep(backend, terminal, id, at);
      at = step.next;
      isFinal = step.isFinal;
    }
  };
  const catchUp = async (id: string) => {
    const { end } = await backend.read(id, 0, { waitMs: 0, maxBytes: 0 });
    const elapsed = createStopwatch();
    while (at < end && elapsed() < catchUpMs) await moved.heard(catchUpMs);
  };

  return {
    resize: (wanted) => terminal.resize(wanted),
    applicationKeys: () => terminal.applicationKeys(),
    follow(id) {
      command = id;
      // A command that is forgotten has no screen to follow.
      keepUp(id).catch(() => {});
    },
    async view() {
      if (command !== undefined) await catchUp(command);
      return terminal.view();
    },
  };
}

async function takeStep(
  backend: Pick<Backend, 'read'>,
  terminal: EmulatedTerminal,
  id: string,
  at: Cursor,
): Promise<{ readonly next: Cursor; readonly isFinal: boolean }> {
  const found = await backend.read(id, at, { waitMs, maxBytes: pieceBytes });
  if (found.end - at > mostBehindBytes) {
    terminal.reset();
    return { next: found.end - pieceBytes, isFinal: false };
  }
  for (const { data } of found.chunks) await terminal.feed(data);
  return { next: found.next, isFinal: found.final && found.next === found.end };
}
