// The page's side of its worker. Under Trusted Types, starting a worker needs a policy: this one returns the worker's
// own address and throws for any other.
import type { FromWorker, LogOptions, LogState, MarkedRow, ToWorker } from './worker/messages.ts';

interface Policy {
  createScriptURL(url: string): string;
}

declare global {
  interface Window {
    readonly trustedTypes?: { createPolicy(name: string, rules: Policy): Policy };
  }
}

const rules: Policy = {
  createScriptURL(url) {
    if (url === WORKER_PATH) return url;
    throw new TypeError('Only the worker of the console may be started.');
  },
};
const policy = window.trustedTypes?.createPolicy('nacre-worker', rules) ?? rules;
const worker = new Worker(policy.createScriptURL(WORKER_PATH));

let lastRequest = 0;
const waiting = new Map<number, (value: never) => void>();
const logListeners = new Map<number, (state: LogState) => void>();
let onOther: (message: Extract<FromWorker, { type: 'socket' | 'server' }>) => void = () => {};

worker.onmessage = ({ data }: MessageEvent<FromWorker>) => {
  if (data.type === 'log') return logListeners.get(data.log)?.(data.state);
  if (data.type === 'socket' || data.type === 'server') return onOther(data);
  const done = waiting.get(data.request) as ((value: unknown) => void) | undefined;
  waiting.delete(data.request);
  done?.(data.type === 'rows' ? data.rows : data.type === 'text' ? data.text : data.value);
};

const post = (message: ToWorker) => worker.postMessage(message);

/** Connects the worker to the server; `listener` gets its messages. */
export function connectWorker(listener: typeof onOther): void {
  onOther = listener;
  const { protocol, host } = window.location;
  post({ type: 'connect', address: `${protocol === 'https:' ? 'wss' : 'ws'}://${host}/api/console` });
}

/** Whether every record is wanted, as the page Audit shows them. */
export function watchRecords(records: boolean): void {
  post({ type: 'watch', records });
}

/** An output that is open in the worker. */
export interface LogHandle {
  rows(from: number, count: number): Promise<readonly MarkedRow[]>;
  /** From now on every state includes the last `count` lines; 0 turns this off. */
  follow(count: number): void;
  find(query: string): void;
  /** The line of a match. */
  match(index: number): Promise<number>;
  /** The index of the next match from a line on, or the next line with an error; -1 if there is none. */
  matchFrom(line: number, errors: boolean, by: 1 | -1): Promise<number>;
  /** Wraps lines at this many cells; 0 turns wrapping off. */
  wrap(cols: number): void;
  lineAtVisual(visual: number): Promise<number>;
  visualOf(line: number): Promise<number>;
  lineAtCursor(cursor: number): Promise<number>;
  cursorOf(line: number): Promise<number>;
  text(from: number, to: number): Promise<string>;
  close(): void;
}

let lastLog = 0;

/** Opens the output of a command. */
export function openLog(command: string, options: LogOptions, onState: (state: LogState) => void): LogHandle {
  lastLog += 1;
  const log = lastLog;
  logListeners.set(log, onState);
  post({ type: 'open', log, command, ...options });
  const ask = <Value>(message: (request: number) => ToWorker): Promise<Value> => {
    lastRequest += 1;
    const request = lastRequest;
    const reply = new Promise<Value>((resolve) => waiting.set(request, resolve as (value: never) => void));
    post(message(request));
    return reply;
  };
  return {
    rows: (first, count) => ask((request) => ({ type: 'rows', log, request, from: first, count })),
    follow: (count) => post({ type: 'follow', log, count }),
    find: (query) => post({ type: 'find', log, query }),
    match: (index) => ask((request) => ({ type: 'match', log, request, index })),
    matchFrom: (line, errors, by) =>
      ask((request) => ({ type: 'match-from', log, request, line, errors, by })),
    wrap: (cols) => post({ type: 'wrap', log, cols }),
    lineAtVisual: (visual) => ask((request) => ({ type: 'row-at', log, request, visual })),
    visualOf: (line) => ask((request) => ({ type: 'visual-of', log, request, line })),
    lineAtCursor: (cursor) => ask((request) => ({ type: 'line-at', log, request, cursor })),
    cursorOf: (line) => ask((request) => ({ type: 'cursor-of', log, request, line })),
    text: (first, to) => ask((request) => ({ type: 'text', log, request, from: first, to })),
    close() {
      logListeners.delete(log);
      post({ type: 'close', log });
    },
  };
}
