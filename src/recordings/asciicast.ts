// Recordings are asciicast files: a header, then one event a line. In version 3 an event tells the seconds since the one
// before it, in version 2 since the beginning.
import { NacreError } from '../contract/failure.ts';

/** How a recording begins. */
export interface CastHeader {
  readonly cols: number;
  readonly rows: number;
  /** Seconds since 1970. */
  readonly timestamp: number;
  readonly title: string;
}

/** Something that happened: output, a new size or the exit. */
export interface CastEvent {
  /** Seconds since the event before. */
  readonly after: number;
  readonly code: string;
  readonly data: string;
}

/** A whole recording. */
export interface Cast {
  readonly header: CastHeader;
  readonly events: readonly CastEvent[];
}

/** The first line of a recording. */
export function toHeaderLine({ cols, rows, timestamp, title }: CastHeader): string {
  return `${JSON.stringify({ version: 3, term: { cols, rows }, timestamp, title })}\n`;
}

/** The line of one event. */
export function toEventLine({ after, code, data }: CastEvent): string {
  return `${JSON.stringify([round(after), code, data])}\n`;
}

/** How the name of a recording ends, by which players know it. */
export const recordingSuffix = '.cast';

/** How much of the end of a recording tells whether it is whole. */
export const tailBytes = 64;

/** Whether a recording that ends like this has the event of the exit, behind which nothing comes. */
export function hasEnded(tail: string): boolean {
  return /\n\[[^"]*,"x","-?\d+"\]\n$/.test(tail);
}

/** Reads a recording; a last line that was never finished is left out. */
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
    throw new NacreError('invalid_request', `${name} is no recording: ${(cause as Error).message}.`, {
      hint: 'nacre replay plays what was recorded with record: true, asciicast version 3.',
      cause,
    });
  }
}

/** The same in version 2, which older players know; it has no event for the exit. */
export function toVersion2({ header, events }: Cast): string {
  const { cols: width, rows: height, timestamp, title } = header;
  let time = 0;
  const lines = events.flatMap(({ after, code, data }) => {
    time += after;
    return code === 'x' ? [] : [JSON.stringify([round(time), code, data])];
  });
  return `${[JSON.stringify({ version: 2, width, height, timestamp, title }), ...lines].join('\n')}\n`;
}

// Microseconds are what players show.
function round(seconds: number): number {
  return Math.round(seconds * 1e6) / 1e6;
}
