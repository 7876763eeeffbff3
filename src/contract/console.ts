// The types that the console's page and the server share: cards for lists, and the messages of `/api/console`.
import type { Verdict } from './decision.ts';
import type { EndCause } from './job.ts';

/** A program in the text of a command, as `Decision.programs` found it. */
export interface ProgramPlace {
  readonly name: string;
  readonly pos: number;
  readonly end: number;
  readonly via?: string | undefined;
  readonly entry?: string | undefined;
}

/** The states of a command; `lost`: it was started, and its server is gone. */
export type CardState =
  | 'asked'
  | 'waiting'
  | 'running'
  | 'completed'
  | 'failed'
  | 'timeout'
  | 'killed'
  | 'refused'
  | 'error'
  | 'skipped'
  | 'lost';

/** A command as lists and timelines show it; `live` messages send those that changed, whole. */
export interface CommandCard {
  readonly id: string;
  /** The instance of the server that ran it. */
  readonly server: string;
  readonly agent: string;
  readonly shell: string | null;
  readonly name: string | null;
  /** True for a command that outlives its call. */
  readonly background: boolean;
  readonly command: string;
  readonly programs: readonly ProgramPlace[];
  readonly cwd: string | null;
  readonly state: CardState;
  readonly verdict: Verdict | null;
  readonly rule: string | null;
  readonly reason: string | null;
  /** The next step after a refusal or an error. */
  readonly hint: string | null;
  /** The smallest change of the settings that would allow the command. */
  readonly remedy: string | null;
  /** The part of the text that a refusal is about. */
  readonly piece: { readonly pos: number; readonly end: number } | null;
  readonly asked_at: string;
  readonly started_at: string | null;
  readonly duration_ms: number | null;
  readonly exit_code: number | null;
  readonly cause: EndCause | null;
  readonly stdout_bytes: number;
  readonly stderr_bytes: number;
  /** True while it waits for input. */
  readonly awaiting: boolean;
  /** The name of the program in it that is blocked reading its input; null if it does not wait. */
  readonly reader: string | null;
  readonly ports: readonly number[];
  readonly cpu_ms: number | null;
  /** CPU in percent of one core, in the last second; null unless it runs. */
  readonly cpu_percent: number | null;
  /** The last samples of `cpu_percent`, one a second; empty unless it runs. */
  readonly cpu_recent: readonly number[];
  readonly memory_bytes: number | null;
  readonly terminal: boolean;
  /** The machine that it runs on; null for this one. */
  readonly machine: string | null;
  /** The enforced `sandbox`; null until the command has started. */
  readonly sandbox: string | null;
  /** The enforced network access; null until the command has started. */
  readonly network: string | null;
  /** The answers of people: who, when, and what. */
  readonly acts: readonly PersonAct[];
}

/** An action of a person on a command. */
export interface PersonAct {
  readonly kind: 'approved' | 'declined' | 'stop' | 'input';
  readonly at: string;
  readonly by: string;
  readonly note: string | null;
}

/** An agent: a connection of a client, with counts of its commands. */
export interface AgentCard {
  readonly key: string;
  readonly client: string;
  readonly door: string;
  /** The folder that most of its commands ran in. */
  readonly folder: string | null;
  readonly server: string;
  readonly since: string;
  readonly last: string;
  readonly shells: readonly string[];
  readonly commands: number;
  readonly running: number;
  readonly failed: number;
  readonly refused: number;
  readonly waiting: number;
  /** False once its server is gone. */
  readonly here: boolean;
}

/** An approval request, as a card shows it. */
export interface QuestionCard {
  readonly id: string;
  /** The id of the command that asked first. */
  readonly command: string;
  /** The ids of the commands that wait for the answer now. */
  readonly calls: readonly string[];
  readonly agent: string;
  readonly client: string;
  readonly server: string;
  readonly asked: {
    readonly command: string;
    /** The machine that it would run on; null for that of the server. */
    readonly on: string | null;
    readonly cwd: string;
    readonly env: Readonly<Record<string, string>>;
    readonly input: string | null;
    readonly into: string | null;
    readonly sandbox: string | null;
    /** The changes that the command has made while they are held, one line each; null if it has not run. */
    readonly changes: readonly string[] | null;
  };
  readonly rule: string;
  readonly reason: string;
  readonly programs: readonly ProgramPlace[];
  /** The SHA-256 of the request; an answer has to repeat it. */
  readonly digest: string;
  /** When the request expires. */
  readonly until: string;
}

/** A running server. */
export interface ServerCard {
  readonly instance: string;
  readonly pid: number;
  readonly door: string;
  readonly version: string;
  readonly address: string | null;
  readonly since: string;
  readonly cwd: string;
  readonly clients: readonly string[];
  readonly running: number;
  readonly sandbox: string | null;
  readonly problem: string | null;
  /** True for the server that serves this page. */
  readonly own: boolean;
}

/** A record of the audit log, with the server that wrote it. */
export interface RecordRow {
  readonly server: string;
  readonly seq: number;
  readonly time: string;
  readonly kind: string;
  readonly id: string;
  readonly door: string;
  readonly client: string;
  readonly [field: string]: unknown;
}

/** The reply to GET /api/now, and the first message of the socket. */
export interface NowReply {
  readonly version: string;
  readonly address: string;
  readonly home: string;
  /** The page's own role and name. */
  readonly page: { readonly role: PageRole; readonly name: string };
  /** Folders of static files that the server serves as pages of their own. */
  readonly applets: readonly { readonly slug: string; readonly title: string }[];
  readonly paused: boolean;
  /** Why approval is off here; null if it is on. */
  readonly approval_off: string | null;
  readonly running: readonly CommandCard[];
  readonly questions: readonly QuestionCard[];
  /** Commands that failed, were refused or lost within the last hour, newest first. */
  readonly failed: readonly CommandCard[];
  readonly agents: readonly AgentCard[];
  readonly servers: readonly ServerCard[];
  /** Commands that began in each of the last 60 minutes. */
  readonly per_minute: readonly number[];
  readonly total: number;
}

/** The agents that were active last, first; `next` continues the list and is null at its end. */
export interface AgentList {
  readonly agents: readonly AgentCard[];
  /** The number of all agents. */
  readonly total: number;
  readonly next: string | null;
}

/** The most commands in `NowReply.failed`. */
export const maxFailed = 50;

/** The close code of a socket that exceeds a limit; the close reason says which. */
export const tryAgainLater = 1_013;

/** Operators can act; viewers can only read. */
export type PageRole = 'operator' | 'viewer';

/** Messages from the page. */
export type PageMessage =
  | { readonly type: 'watch'; readonly records?: boolean | undefined; readonly after?: string | undefined }
  | {
      readonly type: 'open';
      readonly channel: number;
      readonly command: string;
      readonly from: number;
      /** The server stops at this cursor and sends `end`; without it, the server follows the output. */
      readonly to?: number | undefined;
      readonly mode: 'tail' | 'all';
    }
  | { readonly type: 'ack'; readonly channel: number; readonly cursor: number }
  | { readonly type: 'close'; readonly channel: number };

/** The part of `NowReply` that changed. */
export type NowChange = Partial<
  Pick<NowReply, 'paused' | 'approval_off' | 'questions' | 'agents' | 'servers' | 'per_minute' | 'total'>
>;

/** Messages from the server; output is sent in binary frames (`outputFrame`). */
export type ConsoleMessage =
  | { readonly type: 'now'; readonly token: string; readonly now: NowReply }
  | {
      readonly type: 'live';
      readonly token: string;
      readonly cards: readonly CommandCard[];
      readonly change: NowChange;
    }
  | { readonly type: 'records'; readonly token: string; readonly records: readonly RecordRow[] }
  /** Too many changes since the token of `watch`: the page fetches its lists again. */
  | { readonly type: 'reset'; readonly token: string }
  | { readonly type: 'skipped'; readonly channel: number; readonly from: number; readonly to: number }
  | {
      readonly type: 'end';
      readonly channel: number;
      readonly cursor: number;
      readonly state: CardState | null;
    }
  | {
      readonly type: 'error';
      readonly channel: number | null;
      readonly error: string;
      readonly hint?: string | undefined;
    };

/** The header of a binary frame: kind (1 stdout, 2 stderr), channel, the cursor after the bytes, and milliseconds since the start. */
export interface ConsoleFrame {
  readonly stream: 1 | 2;
  readonly channel: number;
  readonly cursor: number;
  readonly ms: number;
  readonly bytes: Uint8Array;
}

/** Length of the header of a binary frame. */
export const frameHeaderBytes = 17;

/** Encodes a piece of output. */
export function toOutputFrame({ stream, channel, cursor, ms, bytes }: ConsoleFrame): Uint8Array {
  const frame = new Uint8Array(frameHeaderBytes + bytes.length);
  const view = new DataView(frame.buffer);
  view.setUint8(0, stream);
  view.setUint32(1, channel);
  view.setFloat64(5, cursor);
  view.setUint32(13, ms);
  frame.set(bytes, frameHeaderBytes);
  return frame;
}

/** Decodes a binary frame; undefined if it is not one. */
export function fromOutputFrame(frame: Uint8Array): ConsoleFrame | undefined {
  if (frame.length < frameHeaderBytes) return undefined;
  const view = new DataView(frame.buffer, frame.byteOffset, frame.length);
  const kind = view.getUint8(0);
  if (kind !== 1 && kind !== 2) return undefined;
  return {
    stream: kind,
    channel: view.getUint32(1),
    cursor: view.getFloat64(5),
    ms: view.getUint32(13),
    bytes: frame.subarray(frameHeaderBytes),
  };
}

/** Bytes of one channel that may be sent and not acknowledged. */
export const windowBytes = 1_048_576;
