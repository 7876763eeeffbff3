import type { TerminalSize } from '../contract/job.ts';
import type { ScreenView } from '../contract/screen.ts';
import { sanitise } from './sanitise.ts';

/** A terminal that nobody looks at: it takes what a program prints and knows what would be seen. */
export interface EmulatedTerminal {
  /** Resolves when all of it is on the screen. */
  feed(bytes: Uint8Array): Promise<void>;
  resize(size: TerminalSize): void;
  reset(): void;
  view(): ScreenView;
  applicationKeys(): boolean;
}

/** Makes a terminal; `onReply` gets what it answers to questions of the program, such as where the cursor stands. */
export async function emulateTerminal(
  size: TerminalSize,
  onReply: (text: string) => void,
): Promise<EmulatedTerminal> {
  // Large, and only those need it who have a terminal.
  const { Terminal } = (await import('@xterm/headless')).default;
  const terminal = new Terminal({ ...size, scrollback: 0, allowProposedApi: true });
  terminal.onData((reply) => {
    if (harmlessReply.test(reply)) onReply(reply);
  });
  return {
    feed: (bytes) => new Promise((resolve) => terminal.write(bytes, resolve)),
    resize: ({ cols, rows }) => terminal.resize(cols, rows),
    reset: () => terminal.reset(),
    applicationKeys: () => terminal.modes.applicationCursorKeysMode,
    view() {
      const { active } = terminal.buffer;
      const lines = Array.from({ length: terminal.rows }, (_, row) =>
        lineAt(active.getLine(active.baseY + row)),
      );
      return {
        cols: terminal.cols,
        rows: terminal.rows,
        text: `${lines.join('\n').trimEnd()}\n`,
        cursor: { row: active.cursorY + 1, col: active.cursorX + 1 },
      };
    },
  };
}

// Reports in numbers alone: whatever could carry text of the program's choice would be typed as if by a person.
const harmlessReply = /^\x1b\[[?>=]?[\d;]*(?:\$y|[cnRtu])$/;

function lineAt(line: { translateToString(trimRight: boolean): string } | undefined): string {
  return sanitise(Buffer.from(line?.translateToString(true) ?? '')).trimEnd();
}
