import { closeSync, fstatSync, type Stats } from 'node:fs';
import type { TerminalSize } from '../../contract/job.ts';
import { withholdFromChildren } from '../io/inherited-descriptors.ts';
import type { InputFile } from '../observe/find-blocked-reader.ts';
import type { PtyBinary } from './load-pty.ts';

/** The master side of a pseudo-terminal. */
export interface Terminal {
  readonly master: number;
  /** Identifies the slave side for `findBlockedReader`. */
  readonly file: InputFile;
  resize(size: TerminalSize): void;
  /** Called after `master` was closed: its number may be reused, and children may inherit it again. */
  release(): void;
}

/** A new pseudo-terminal with both sides open, from `openTerminal`. */
export interface OpenTerminal extends Terminal {
  readonly slave: number;
  /** Closes the slave side, once the command has it open. */
  closeSlave(): void;
  discard(): void;
}

/** Opens a new pseudo-terminal. */
export function openTerminal(pty: PtyBinary, { cols, rows }: TerminalSize): OpenTerminal {
  const { master, slave } = pty.open(cols, rows);
  const releaseSlave = withholdFromChildren(slave);
  const terminal = toTerminal(pty, master, fstatSync(slave));
  return {
    ...terminal,
    slave,
    discard() {
      closeSync(master);
      terminal.release();
    },
    closeSlave() {
      closeSync(slave);
      releaseSlave();
    },
  };
}

/** Wraps the master side of a terminal with which a program was started. */
export function toTerminal(pty: PtyBinary, master: number, { dev, ino }: Stats): Terminal {
  return {
    master,
    file: { kind: 'terminal', dev, ino },
    resize: ({ cols, rows }) => pty.resize(master, cols, rows),
    // @lydell/node-pty opens it without O_CLOEXEC, so that every child would inherit it.
    release: withholdFromChildren(master),
  };
}
