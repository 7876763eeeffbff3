import type { Backend } from '../../contract/backend.ts';
import type { Cursor, TerminalSize } from '../../contract/job.ts';
import type { Screen, ScreenView } from '../../contract/screen.ts';
import { type EmulatedTerminal, emulateTerminal } from '../../output/emulate-terminal.ts';
import { logOf, tail } from '../../support/tail.ts';
import { createNotifier, createStopwatch } from '../../support/timing.ts';

/** The `Screen` of one command, fed with its output. */
export interface LiveScreen extends Screen {
  /** Feeds the output of a started command to `emulateTerminal`, until it ends. */
  follow(id: string): void;
}

// A command that prints faster than the emulator renders skips to its newest output, which decides what the screen shows.
const reading = { waitMs: 60_000, maxBytes: 65_536, maxLagBytes: 1_048_576 };
const catchUpMs = 2_000;

/** Creates the screen of a command that is about to start. */
export async function createLiveScreen(
  backend: Pick<Backend, 'read' | 'write'>,
  size: TerminalSize,
): Promise<LiveScreen> {
  const advanced = createNotifier();
  let command: string | undefined;
  let at: Cursor = 0;
  // Replies to terminal queries, such as the cursor position.
  const reply = (text: string) => {
    if (command !== undefined) backend.write(command, Buffer.from(text)).catch(() => {});
  };
  let terminal = await emulateTerminal(size, reply);

  const feed = async (id: string) => {
    for await (const { chunks, next, skipped } of tail(logOf(backend, id), 0, reading)) {
      if (skipped) terminal.reset();
      for (const { data } of chunks) await terminal.feed(data);
      at = next;
      advanced.notifyAll();
    }
    terminal = freezeTerminal(terminal.view());
  };
  const catchUp = async (id: string) => {
    const { end } = await backend.read(id, 0, { waitMs: 0, maxBytes: 0 });
    const elapsed = createStopwatch();
    while (at < end && elapsed() < catchUpMs) await advanced.wait(catchUpMs);
  };

  return {
    resize: (wanted) => terminal.resize(wanted),
    applicationKeys: () => terminal.applicationKeys(),
    follow(id) {
      command = id;
      // `read` rejects once the command is forgotten.
      feed(id).catch(() => {});
    },
    async view() {
      if (command !== undefined) await catchUp(command);
      return terminal.view();
    },
  };
}

// Keeps only the last screen of an ended command: hundreds of them may be kept, and an emulator needs 300 kB.
function freezeTerminal(view: ScreenView): EmulatedTerminal {
  return {
    ...{ feed: async () => {}, resize: () => {}, reset: () => {} },
    ...{ view: () => view, applicationKeys: () => false },
  };
}
