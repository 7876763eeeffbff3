// The messages between the page and its worker. Output never reaches the page except as the rows that it shows.
import type { ConsoleMessage } from '../../contract/console.ts';
import type { Row } from './log-store.ts';

/** A row with the places that match the query. */
export interface MarkedRow extends Row {
  readonly marks: readonly (readonly [number, number])[];
}

/** Where a log begins, whether the server may skip, and which 64 MB of a longer output are kept. */
export interface LogOptions {
  readonly from: number;
  readonly mode: 'tail' | 'all';
  readonly keeps: 'first' | 'last';
}

/** Messages from the page. */
export type ToWorker =
  | { readonly type: 'connect'; readonly address: string }
  | { readonly type: 'watch'; readonly records: boolean }
  | ({
      readonly type: 'open';
      readonly log: number;
      readonly command: string;
    } & LogOptions)
  | { readonly type: 'close'; readonly log: number }
  | {
      readonly type: 'rows';
      readonly log: number;
      readonly request: number;
      readonly from: number;
      readonly count: number;
    }
  /** Every further state includes the last `count` lines; 0 stops that. */
  | { readonly type: 'follow'; readonly log: number; readonly count: number }
  | { readonly type: 'find'; readonly log: number; readonly query: string }
  | { readonly type: 'match'; readonly log: number; readonly request: number; readonly index: number }
  | {
      readonly type: 'match-from';
      readonly log: number;
      readonly request: number;
      readonly line: number;
      readonly errors: boolean;
      readonly by: 1 | -1;
    }
  | { readonly type: 'wrap'; readonly log: number; readonly cols: number }
  | { readonly type: 'row-at'; readonly log: number; readonly request: number; readonly visual: number }
  | { readonly type: 'visual-of'; readonly log: number; readonly request: number; readonly line: number }
  | { readonly type: 'line-at'; readonly log: number; readonly request: number; readonly cursor: number }
  | { readonly type: 'cursor-of'; readonly log: number; readonly request: number; readonly line: number }
  | {
      readonly type: 'text';
      readonly log: number;
      readonly request: number;
      readonly from: number;
      readonly to: number;
    };

/** The state of one log, at most once a frame. */
export interface LogState {
  readonly lines: number;
  readonly firstLine: number;
  /** Rows on the screen, more than lines if they are wrapped. */
  readonly visual: number;
  readonly bytes: number;
  readonly isEnded: boolean;
  readonly error: string | null;
  /** The cursor of the first byte that is kept. */
  readonly firstCursor: number;
  /** True for a log that keeps the first 64 MB and has them; the rest is not fetched. */
  readonly isFull: boolean;
  readonly skippedBytes: number;
  readonly errors: number;
  readonly errorMarks: readonly number[];
  readonly found: number;
  readonly isSearched: boolean;
  readonly queryError: string | null;
  readonly marks: readonly number[];
  /** The last lines, for a page that follows: it needs no second message to show them. */
  readonly tail: readonly MarkedRow[];
  /** The first row of `tail` on the screen. */
  readonly tailVisual: number;
}

/** Messages from the worker. */
export type FromWorker =
  | { readonly type: 'socket'; readonly state: 'open' | 'lost' | 'refused'; readonly againInMs: number }
  | { readonly type: 'server'; readonly message: ConsoleMessage }
  | { readonly type: 'log'; readonly log: number; readonly state: LogState }
  | {
      readonly type: 'rows';
      readonly log: number;
      readonly request: number;
      readonly rows: readonly MarkedRow[];
    }
  | { readonly type: 'answer'; readonly log: number; readonly request: number; readonly value: number }
  | { readonly type: 'text'; readonly log: number; readonly request: number; readonly text: string };
