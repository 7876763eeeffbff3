// Recordings are asciicast files: a header line, then one event per line. The time of an event is in seconds since the
// previous event in version 3, since the start in version 2.
import { NacreError } from '../contract/failure.ts';
import type { ProcessIdentity } from '../support/process-identity.ts';

/** The header of a recording. */
export interface CastHeader {
  readonly cols: number;
  readonly rows: number;
  /** Seconds since 1970. */
  readonly timestamp: number;
  readonly title: string;
}

/** One event: output (`o`), a new size (`r`) or the exit (`x`). */
export interface CastEvent {
  /** Seconds since the previous event. */
  readonly after: number;
  readonly code: string;
  readonly data: string;
}

/** A parsed recording. */
export interface Cast {
  readonly header: CastHeader;
  readonly events: readonly CastEvent[];
}

/** Formats the header line; `writer` is the server that is writing the recording. */
export function toHeaderLine(
  { cols, rows, timestamp, title }: CastHeader,
  writer?: ProcessIdentity | undefined,
): string {
  return `${JSON.stringify({ version: 3, term: { cols, rows }, timestamp, title, writer })}\n`;
}

/** The server that a header line names; undefined for one of an earlier version, or for an incomplete line. */
export function writerOf(headerLine: string): ProcessIdentity | undefined {
  try {
    const { writer } = JSON.parse(headerLine) as { writer?: Partial<ProcessIdentity> };
    const { boot, namespace, pid, startTime } = writer ?? {};
    if (boot === undefined || namespace === undefined || pid === undefined || startTime === undefined)
      return undefined;
    return { boot, namespace, pid, startTime };
  } catch {
    return undefined;
  }
}

/** Formats the line of one event. */
export function toEventLine({ after, code, data }: CastEvent): string {
  return `${JSON.stringify([round(after), code, data])}\n`;
}

/** File name suffix of recordings, as players expect it. */
export const recordingSuffix = '.cast';

/** Bytes at the end of a recording that `hasEnded` needs. */
export const tailBytes = 64;

/** True if the last line is an exit event, which is always the last one. */
export function hasEnded(tail: string): boolean {
  return /\n\[[^"\n]{1,40},"x","-?\d{1,9}"\]\n$/.test(tail);
}

/** Parses a recording; an incomplete last line is ignored. */
export function parseCast(text: string, name: string): Cast {
  try {
    const [first = '', ...lines] = text.split('\n').slice(0, -1);
    const { version, term, timestamp = 0, title = '' } = JSON.parse(first);
    if (version !== 3) throw new Error(`it is version ${version}`);
    const events = lines.map((line) => {
      const [after, code, data] = JSON.parse(line);
      return { after: Number(after), code: String(code), data: String(data) };
    });
    return { header: { cols: term.cols, rows: term.rows, timestamp, title }, events };
  } catch (cause) {
    throw new NacreError('invalid_request', `${name} is not a recording: ${(cause as Error).message}.`, {
      hint: 'nacre replay plays recordings made with record: true, in asciicast version 3.',
      cause,
    });
  }
}

/** Converts a recording to version 2, for older players; it has no exit event. */
export function toVersion2({ header, events }: Cast): string {
  const { cols: width, rows: height, timestamp, title } = header;
  let time = 0;
  const lines = events.flatMap(({ after, code, data }) => {
    time += after;
    return code === 'x' ? [] : [JSON.stringify([round(time), code, data])];
  });
  return `${[JSON.stringify({ version: 2, width, height, timestamp, title }), ...lines].join('\n')}\n`;
}

// Players use at most microseconds.
function round(seconds: number): number {
  return Math.round(seconds * 1e6) / 1e6;
}
