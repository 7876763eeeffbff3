import type { TerminalSize } from '../contract/job.ts';
import type { ScreenView } from '../contract/screen.ts';
import { sanitise } from './sanitise.ts';

/** An emulated terminal: it interprets a program's output and returns the screen that it would show. */
export interface EmulatedTerminal {
  /** Resolves when `view` includes the bytes. */
  feed(bytes: Uint8Array): Promise<void>;
  resize(size: TerminalSize): void;
  reset(): void;
  view(): ScreenView;
  applicationKeys(): boolean;
}

/** Creates a terminal; `onReply` gets its replies to queries from the program, such as the cursor position. */
export async function emulateTerminal(
  size: TerminalSize,
  onReply: (text: string) => void,
): Promise<EmulatedTerminal> {
  // `@xterm/headless` is large and only needed for commands with a terminal, so load it on demand.
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

// Replies are written to the program's stdin, so only numeric reports are passed on: others could contain text that the
// program chose.
const harmlessReply = /^\x1b\[[?>=]?[\d;]*(?:\$y|[cnRtu])$/;

function lineAt(line: { translateToString(trimRight: boolean): string } | undefined): string {
  return sanitise(Buffer.from(line?.translateToString(true) ?? '')).trimEnd();
}
