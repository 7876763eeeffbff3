// The worker of the console: it has the socket and every log, so that output never blocks the page's main thread.
import {
  type ConsoleMessage,
  fromOutputFrame,
  type PageMessage,
  tryAgainLater,
} from '../../contract/console.ts';
import { Fetches } from './fetches.ts';
import type { FromWorker, ToWorker } from './messages.ts';
import { OpenLog } from './open-log.ts';

const logs = new Map<number, OpenLog>();
const changed = new Set<number>();
let socket: WebSocket | undefined;
let address = '';
let token: string | undefined;
let watchesRecords = false;
let tries = 0;
let isWorking = false;

const post = (message: FromWorker) => self.postMessage(message);
const send = (message: PageMessage) => {
  if (socket?.readyState === WebSocket.OPEN) socket.send(JSON.stringify(message));
};

const fetches = new Fetches({
  send,
  changed: (id) => changedLog(id),
  detach(id) {
    const log = logs.get(id);
    if (log && !log.isEnded) send({ type: 'close', channel: id });
  },
});

const longestMs = 10_000;

function connect(): void {
  const own = new WebSocket(address);
  socket = own;
  own.binaryType = 'arraybuffer';
  own.onopen = () => {
    tries = 0;
    post({ type: 'socket', state: 'open', againInMs: 0, reason: '' });
    send({ type: 'watch', records: watchesRecords, after: token });
    // Every log is reopened at its own end, so that no byte is lost or duplicated.
    for (const [channel, log] of logs) openLive(channel, log);
    fetches.restart();
  };
  own.onmessage = ({ data }) =>
    typeof data === 'string' ? receive(JSON.parse(data)) : receiveOutput(new Uint8Array(data));
  own.onclose = ({ code, reason }) => {
    if (socket !== own) return;
    tries += 1;
    const isFull = code === tryAgainLater;
    const againInMs = isFull ? longestMs : Math.min(longestMs, 250 * 2 ** Math.min(tries, 6));
    post({ type: 'socket', state: 'lost', againInMs, reason: isFull ? reason : '' });
    setTimeout(connect, againInMs);
  };
}

function openLive(channel: number, { command, store, mode, isEnded, isLive }: OpenLog): void {
  if (isLive && !isEnded && mode !== 'part') send({ type: 'open', channel, command, from: store.end, mode });
}

function receive(message: ConsoleMessage): void {
  if ('token' in message) token = message.token;
  if (message.type === 'skipped') {
    if (fetches.skip(message.channel, message.to)) return;
    logs.get(message.channel)?.store.skip(message.to);
    changedLog(message.channel);
  } else if (message.type === 'end') {
    if (!fetches.end(message.channel, message.cursor, null)) endLog(message.channel, null);
  } else if (message.type === 'error' && message.channel !== null) {
    const error = [message.error, message.hint].filter(Boolean).join(' ');
    if (!fetches.end(message.channel, 0, error)) endLog(message.channel, error);
  } else post({ type: 'server', message });
}

function endLog(channel: number, error: string | null): void {
  const log = logs.get(channel);
  if (!log) return;
  log.isEnded = true;
  log.isAtEnd = true;
  log.isLive = false;
  log.error = error;
  changedLog(channel);
}

function receiveOutput(data: Uint8Array): void {
  const frame = fromOutputFrame(data);
  if (!frame || fetches.receive(frame)) return;
  const log = logs.get(frame.channel);
  if (!log?.isLive) return;
  const from = frame.cursor - frame.bytes.length;
  // After a reconnection the server starts at the end of this log; earlier bytes are duplicates.
  if (from !== log.store.end) return;
  log.append(frame.bytes, frame.ms, frame.stream === 2);
  acknowledge(frame.channel, frame.cursor);
  changedLog(frame.channel);
}

const unacked = new Map<number, number>();

// Sends one acknowledgement for many small pieces.
function acknowledge(channel: number, cursor: number): void {
  if (!unacked.has(channel))
    queueMicrotask(() => {
      send({ type: 'ack', channel, cursor: unacked.get(channel) ?? cursor });
      unacked.delete(channel);
    });
  unacked.set(channel, cursor);
}

let frameTimer: ReturnType<typeof setTimeout> | undefined;
const frameMs = 16;

function changedLog(channel: number): void {
  changed.add(channel);
  reportAfter(frameMs);
  work();
}

function reportAfter(ms: number): void {
  if (frameTimer === undefined) frameTimer = setTimeout(report, ms);
}

function report(): void {
  frameTimer = undefined;
  for (const channel of changed) {
    const log = logs.get(channel);
    if (log) post({ type: 'log', log: channel, state: log.state() });
  }
  changed.clear();
}

// Searches in slices, so that messages are handled in between.
const turn = new MessageChannel();
turn.port1.onmessage = () => {
  isWorking = false;
  let isMore = false;
  for (const [channel, log] of logs) {
    const before = log.counted;
    isMore = log.work() || isMore;
    if (log.counted !== before || !isMore) changed.add(channel);
  }
  reportAfter(isMore ? 50 : 0);
  if (isMore) work();
};

function work(): void {
  if (isWorking) return;
  isWorking = true;
  turn.port2.postMessage(null);
}

self.onmessage = ({ data }: MessageEvent<ToWorker>) => {
  if (data.type === 'connect') {
    address = data.address;
    connect();
  } else if (data.type === 'watch') {
    watchesRecords = data.records;
    send({ type: 'watch', records: data.records });
  } else if (data.type === 'open') {
    const log = new OpenLog(data.command, data);
    logs.set(data.log, log);
    openLive(data.log, log);
    fetches.fetchAfter(data.log, log);
  } else if (data.type === 'close') {
    logs.delete(data.log);
    fetches.close(data.log);
    send({ type: 'close', channel: data.log });
  } else {
    const log = logs.get(data.log);
    if (log) answer(data, log);
  }
};

type Question = Exclude<ToWorker, { type: 'connect' | 'watch' | 'open' | 'close' }>;

function answer(data: Question, log: OpenLog): void {
  if (data.type === 'find' || data.type === 'wrap' || data.type === 'follow') {
    if (data.type === 'find') find(data.log, log, data.query);
    else if (data.type === 'wrap') log.wrap(data.cols);
    else log.followed = data.count;
    changedLog(data.log);
  } else if (data.type === 'rows') {
    post({ type: 'rows', log: data.log, request: data.request, rows: log.rows(data.from, data.count) });
    fetches.fetchNear(data.log, log, data.from, data.count);
  } else if (data.type === 'text') {
    post({ type: 'text', log: data.log, request: data.request, text: log.store.text(data.from, data.to) });
  } else {
    post({ type: 'answer', log: data.log, request: data.request, value: toValue(data, log) });
  }
}

function find(id: number, log: OpenLog, query: string): void {
  log.find(query);
  fetches.forSearch(id, log);
}

type ValueQuestion = Exclude<Question, { type: 'find' | 'wrap' | 'follow' | 'rows' | 'text' }>;

function toValue(data: ValueQuestion, log: OpenLog): number {
  switch (data.type) {
    case 'match':
      return log.lineOfMatch(data.index);
    case 'match-from':
      return log.matchFrom(data.line, data.errors, data.by);
    case 'row-at':
      return log.lineAtVisual(data.visual);
    case 'visual-of':
      return log.visualOf(data.line);
    case 'line-at':
      return log.store.lineAt(data.cursor);
    case 'cursor-of':
      return log.store.cursorOf(data.line);
  }
}
