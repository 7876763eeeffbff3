// The messages between the page and its worker. Output never reaches the page except as the rows that it shows.
import type { ConsoleMessage } from '../../contract/console.ts';
import type { Row } from './log-store.ts';

/** A row with the places that match the query. */
export interface MarkedRow extends Row {
  readonly marks: readonly (readonly [number, number])[];
}

/**
 * Where a log begins, and which output follows: `all`; `tail`, in which the server may skip output that the page is too
 * slow for; or `part`, in which parts are fetched as the user scrolls.
 */
export interface LogOptions {
  readonly from: number;
  readonly mode: 'tail' | 'all' | 'part';
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
  /** From now on every state includes the last `count` lines; 0 turns this off. */
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
  /** The id after the last line that is kept. */
  readonly lines: number;
  /** The id of the first line that is kept. */
  readonly firstLine: number;
  /** The number of lines, see `LogStore.count`. */
  readonly count: number;
  /** The number of lines that were appended; it only grows. */
  readonly arrived: number;
  /** Rows on the screen, more than lines if they are wrapped. */
  readonly visual: number;
  /** Grows by the rows that are inserted before the first one, and shrinks by those that are dropped there. */
  readonly shift: number;
  /** The end of the output, as far as it is known. */
  readonly bytes: number;
  /** The cursor after the last byte that is kept. */
  readonly end: number;
  /** True while new output arrives at the end. */
  readonly isLive: boolean;
  /** True if `count` is the number of lines of the whole output. */
  readonly isCounted: boolean;
  /** True if the whole output is kept. */
  readonly isWhole: boolean;
  readonly isEnded: boolean;
  readonly error: string | null;
  /** The cursor of the first byte that is kept. */
  readonly firstCursor: number;
  readonly skippedBytes: number;
  readonly errors: number;
  readonly errorMarks: readonly number[];
  readonly found: number;
  readonly isSearched: boolean;
  readonly queryError: string | null;
  readonly marks: readonly number[];
  /** The last lines, for a page that follows the output: it can show them without another message. */
  readonly tail: readonly MarkedRow[];
  /** The first row of `tail` on the screen. */
  readonly tailVisual: number;
}

/** Messages from the worker. */
export type FromWorker =
  | {
      readonly type: 'socket';
      readonly state: 'open' | 'lost';
      readonly againInMs: number;
      /** The reason of the server for closing it; empty for a lost connection. */
      readonly reason: string;
    }
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
