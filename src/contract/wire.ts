// The messages between an engine (near) and a worker (far) at the two ends of one byte stream. Both sides send `magic`
// first; the near side skips what precedes it, such as the banner of a login shell. After that come frames: u32 length
// of the rest, u8 kind, u32 number, u32 length of the JSON, the JSON, raw bytes; integers are big endian.
// 1. `hello` opens a link: the near side names its settings and the jobs that it knows, the far side its own identity.
// 2. A call has a number and is answered once; a repeated call gets the same answer and is not made again.
// 3. The far side pushes output, as far as it has credit, and every change of a job's state.

import type {
  ClosedSession,
  KeptCommand,
  ShowLimits,
  ShownChanges,
  StopOptions,
  TakeUpRequest,
  WriteOptions,
} from './backend.ts';
import type { ChangesAction, ChangesEntry, ChangesResult } from './changes.ts';
import type { Facts, InspectQuery } from './facts.ts';
import type { FailureCode } from './failure.ts';
import type { ExecList } from './isolation.ts';
import type {
  Cursor,
  EnvironmentRules,
  JobObservation,
  JobSpec,
  JobState,
  OutputMark,
  Stream,
  TerminalSize,
} from './job.ts';
import type { ForwardedPort, RoomState } from './port.ts';
import type { MachineReport } from './report.ts';
import type { SecretDigests } from './secret-digests.ts';
import type { SessionState } from './session.ts';

/** The version of the messages; sides with different versions refuse each other. */
export const protocol = 1;

/** The first line that each side sends. */
export const magic = `\0nacre-wire ${protocol}\n`;

/** The kinds of frames by name. */
export const frameKinds = { call: 1, answer: 2, failure: 3, event: 4, ping: 5, pong: 6 } as const;

/** The largest frame that is accepted. */
export const maxFrameBytes = 16 * 1024 * 1024;

/** The output that a job may push on a new link before the near side has asked for any. */
export const firstCredit = 1_048_576;

/** The number of a call that is not answered. */
export const unanswered = 0;

/** The first call on a link. */
export interface NearHello {
  readonly build: string;
  /** The random name of the link; a second connection of the same name and a higher epoch fences the first. */
  readonly link: string;
  readonly epoch: number;
  /** `view` sees the commands of all links and owns none. */
  readonly mode: 'use' | 'view';
  /** The worker's options as plain data. */
  readonly options: Readonly<Record<string, unknown>>;
  /** Present if the worker is on another machine, and `options` name no paths, variables or files: it fills in its own. */
  readonly elsewhere?: Elsewhere | undefined;
  readonly exec: ExecList | null;
  readonly orphanMs: number;
  readonly tombstoneMs: number;
  /** How long the far side keeps jobs that do not outlive a broken link, since the near side may open it again; 0 by default. */
  readonly graceMs?: number | undefined;
  /** The jobs that the near side knows, with the end of its copy of their output. */
  readonly resume: Readonly<Record<string, Cursor>>;
}

/** The part of a hello that only a worker on another machine needs. */
export interface Elsewhere {
  /** Rules for which of its variables are secrets, besides those that `looksSecret` recognises. */
  readonly secretRules?: EnvironmentRules | undefined;
  /** The default directory of commands, if it exists there; otherwise the home directory there. */
  readonly cwd?: string | undefined;
}

/** A machine as its worker reports it. */
export interface FarMachine {
  /** The kernel and processor, such as `linux x64`. */
  readonly platform: string;
  readonly home: string;
  /** The default directory of commands. */
  readonly cwd: string;
}

/** The answer to `NearHello`. */
export interface FarHello {
  readonly build: string;
  /** The name of the worker's process; another name means that the earlier one is gone with its jobs. */
  readonly worker: string;
  readonly pid: number;
  /** Present if `NearHello.elsewhere` is. */
  readonly machine?: FarMachine | undefined;
  /** Present if `Elsewhere.secretRules` is, and the worker is not older than this field. */
  readonly secrets?: SecretDigests | undefined;
  /** The states of the jobs in `NearHello.resume` that are known. */
  readonly jobs: readonly JobState[];
}

/** The answer to `inspect`: facts whose session is left out if its fingerprint is `known`. */
export interface InspectAnswer {
  readonly facts: Facts;
  readonly fingerprint?: string | undefined;
}

/** The answer to `read`; the raw bytes are those of all frames together. */
export interface ReadAnswer {
  readonly frames: readonly OutputFrame[];
  readonly next: Cursor;
  readonly end: Cursor;
  readonly final: boolean;
  readonly goneBefore?: Cursor | undefined;
  readonly marks?: readonly OutputMark[] | undefined;
}

/** The stream and length of consecutive bytes. */
export type OutputFrame = readonly [stream: Stream, bytes: number];

/** The calls of the near side: arguments and result. */
export interface WireCalls {
  hello(hello: NearHello): FarHello;
  /** Replaces the list of programs that the kernel lets commands execute. */
  exec(list: ExecList | null): null;
  warmUp(): null;
  report(): MachineReport;
  usage(): { readonly spoolBytes: number };
  inspect(query: InspectQuery, known: string | null): InspectAnswer;
  prepare(spec: JobSpec): null;
  start(id: string): JobState;
  read(id: string, from: Cursor, maxBytes: number): ReadAnswer;
  state(id: string): JobState;
  write(id: string, options: WriteOptions): null;
  resize(id: string, size: TerminalSize): null;
  interrupt(id: string): null;
  stop(id: string, options: StopOptions): JobState;
  observe(id: string): { readonly observation: JobObservation; readonly state: JobState };
  list(): readonly JobState[];
  dispose(id: string): null;
  settle(id: string): null;
  detach(session: string): null;
  listSessions(): readonly SessionState[];
  closeSession(key: string): ClosedSession | null;
  listRooms(): readonly RoomState[];
  changesFault(): string | null;
  listChanges(owner: string | null): readonly ChangesEntry[];
  scanChanges(action: ChangesAction, limit: number): ChangesResult;
  showChanges(action: ChangesAction, limits: ShowLimits): ShownChanges;
  applyChanges(action: ChangesAction): ChangesResult;
  discardChanges(action: ChangesAction): ChangesResult;
  undoChanges(action: ChangesAction): ChangesResult;
  openPort(port: ForwardedPort): ForwardedPort;
  closePort(hostPort: number): ForwardedPort | null;
  closeRoom(room: string): null;
  takeUp(request: TakeUpRequest): readonly KeptCommand[];
  /** Allows pushes of output up to a cursor. */
  credit(id: string, upTo: Cursor): null;
  /** Asks for `awaiting` and `usage` of a job during the next `careMs`. */
  care(id: string): null;
  /**
   * The near side closes the link and will not open it again; an older worker does not know this call. Returns true if
   * the worker ends with this link, because it has nothing else to keep.
   */
  bye(): boolean | null;
  /** Ends every job and the worker itself. */
  shutdown(): null;
}

/** A method of `WireCalls`. */
export type WireMethod = keyof WireCalls;

/** How long the far side observes a job after `care`. */
export const careMs = 3_000;

/** Messages that the far side pushes. The raw bytes of `output` are those of all frames together. */
export type WireEvent =
  | {
      readonly event: 'output';
      readonly id: string;
      readonly cursor: Cursor;
      readonly frames: readonly OutputFrame[];
      readonly marks?: readonly OutputMark[] | undefined;
    }
  | {
      readonly event: 'grown';
      readonly id: string;
      readonly stdoutBytes: number;
      readonly stderrBytes: number;
    }
  | { readonly event: 'awaiting'; readonly id: string; readonly on: boolean }
  | { readonly event: 'state'; readonly id: string; readonly state: JobState };

/** A failed call. */
export interface WireFailure {
  readonly code: FailureCode;
  readonly message: string;
  readonly hint?: string | undefined;
}

/** The parts of a `JobState` that a worker signs; an audit record has them as unknown values. */
export interface SignedParts {
  readonly id: unknown;
  readonly status: unknown;
  readonly startedAt: unknown;
  readonly durationMs: unknown;
  readonly stdoutBytes: unknown;
  readonly stderrBytes: unknown;
  readonly digests?: { readonly stdout: unknown; readonly stderr: unknown } | undefined;
  readonly end: { readonly cause: unknown; readonly exitCode: unknown; readonly signal: unknown } | null;
}

/** The text of an end that a worker signs: who, what and how many bytes, without anything that may still change. */
export function signedEnd(
  { id, status, startedAt, durationMs, stdoutBytes, stderrBytes, digests, end }: SignedParts,
  endedAt: string,
): string {
  const streams = [stdoutBytes, stderrBytes, digests?.stdout ?? null, digests?.stderr ?? null];
  const how = [end?.cause ?? null, end?.exitCode ?? null, end?.signal ?? null];
  return JSON.stringify([id, status, startedAt, durationMs, ...streams, ...how, endedAt]);
}
