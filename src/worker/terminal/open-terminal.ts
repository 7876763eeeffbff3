import { closeSync, fstatSync, type Stats } from 'node:fs';
import type { TerminalSize } from '../../contract/job.ts';
import { withholdFromChildren } from '../io/inherited-descriptors.ts';
import type { InputFile } from '../observe/find-blocked-reader.ts';
import type { PtyBinary } from './load-pty.ts';

/** Our side of a terminal. */
export interface Terminal {
  readonly master: number;
  /** The side of the command, as the kernel knows it. */
  readonly file: InputFile;
  resize(size: TerminalSize): void;
  /** Notes that our side has been closed. */
  forget(): void;
}

/** A new terminal with both of its sides. */
export interface OpenTerminal extends Terminal {
  readonly slave: number;
  /** Lets go of the command's side once the command has it. */
  closeSlave(): void;
  /** Closes our side of one that nobody will use. */
  discard(): void;
}

/** Makes a terminal that nobody uses yet. */
export function openTerminal(pty: PtyBinary, { cols, rows }: TerminalSize): OpenTerminal {
  const { master, slave } = pty.open(cols, rows);
  const shareSlave = withholdFromChildren(slave);
  const terminal = toTerminal(pty, master, fstatSync(slave));
  return {
    ...terminal,
    slave,
    discard() {
      closeSync(master);
      terminal.forget();
    },
    closeSlave() {
      closeSync(slave);
      shareSlave();
    },
  };
}

/** Our side of a terminal that a program was started with. */
export function toTerminal(pty: PtyBinary, master: number, { dev, ino }: Stats): Terminal {
  return {
    master,
    file: { kind: 'terminal', dev, ino },
    resize: ({ cols, rows }) => pty.resize(master, cols, rows),
    // The package leaves it open in every child.
    forget: withholdFromChildren(master),
  };
}
