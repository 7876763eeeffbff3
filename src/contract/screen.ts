import type { TerminalSize } from './job.ts';

/** The visible content of a terminal. */
export interface ScreenView extends TerminalSize {
  /** The lines, without trailing blanks and without empty lines at the bottom. */
  readonly text: string;
  /** The cursor position, counted from 1. */
  readonly cursor: { readonly row: number; readonly col: number };
}

/** The emulated terminal screen of one command. */
export interface Screen {
  /** Resolves with the content after all output so far has been drawn. */
  view(): Promise<ScreenView>;
  resize(size: TerminalSize): void;
  /** True while the program has switched the arrow keys to application mode (DECCKM). */
  applicationKeys(): boolean;
}
