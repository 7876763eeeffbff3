import type { TerminalSize } from './job.ts';

/** What a terminal shows. */
export interface ScreenView extends TerminalSize {
  /** Its lines, without blanks at their ends and without empty lines at the bottom. */
  readonly text: string;
  /** Where the cursor stands, counted from 1. */
  readonly cursor: { readonly row: number; readonly col: number };
}

/** The screen of one command. */
export interface Screen {
  /** What it shows once everything that was printed so far is on it. */
  view(): Promise<ScreenView>;
  resize(size: TerminalSize): void;
  /** True while the program wants the arrow keys in their other form. */
  applicationKeys(): boolean;
}
