import { readFileSync, rmSync } from 'node:fs';
import { type FileHandle, open } from 'node:fs/promises';
import { join } from 'node:path';
import { NacreError } from '../contract/failure.ts';
import type { OutputChunk, TerminalSize } from '../contract/job.ts';
import { makeFolder } from '../support/make-folder.ts';
import { createStopwatch } from '../support/stopwatch.ts';
import { type Cast, parseCast, recordingSuffix, toEventLine, toHeaderLine } from './asciicast.ts';
import { pruneRecordings, type RecordingLimits, touchEveryMs } from './prune-recordings.ts';

/** Takes what one command prints. */
export interface Recorder {
  add(chunks: readonly OutputChunk[]): Promise<void>;
  resize(size: TerminalSize): Promise<void>;
  end(exitCode: number): Promise<void>;
  /** Lets go of what has no end. */
  close(): Promise<void>;
  /** Removes the recording of a command that never ran. */
  discard(): Promise<void>;
}

/** The recordings of one folder. */
export interface Recordings {
  begin(id: string, terminal: TerminalSize | undefined): Promise<Recorder>;
}

const usualSize = { cols: 80, rows: 24 };

/** Makes recordings in a folder, which has no more of them than the limits say. */
export function createRecordings(dir: string, limits: RecordingLimits): Recordings {
  const room = createRoom(dir, limits);
  return {
    async begin(id, terminal) {
      makeFolder(dir);
      const file = await open(toPath(dir, id), 'w', 0o600);
      const decoders = { stdout: new TextDecoder(), stderr: new TextDecoder() };
      let elapsed = createStopwatch();
      const write = async (code: string, data: string) => {
        const after = elapsed() / 1_000;
        elapsed = createStopwatch();
        const { bytesWritten } = await file.write(toEventLine({ after, code, data }));
        room.fill(bytesWritten);
      };
      const print = async (text: string) => {
        // Without a terminal nobody has turned line feeds into new lines.
        if (text !== '') await write('o', terminal ? text : text.replace(/\r?\n/g, '\r\n'));
      };
      const { cols, rows } = terminal ?? usualSize;
      const timestamp = Math.floor(Date.now() / 1_000);
      const { bytesWritten } = await file.write(toHeaderLine({ cols, rows, timestamp, title: id }));
      room.fill(bytesWritten);
      const touching = setInterval(() => touch(file), touchEveryMs).unref();
      const close = async () => {
        clearInterval(touching);
        await file.close();
      };
      return {
        async add(chunks) {
          for (const { stream, data } of chunks) await print(decoders[stream].decode(data, { stream: true }));
        },
        resize: (size) => write('r', `${size.cols}x${size.rows}`),
        async end(exitCode) {
          for (const decoder of Object.values(decoders)) await print(decoder.decode());
          await write('x', String(exitCode));
        },
        async close() {
          await close();
          await room.made();
        },
        async discard() {
          await close();
          rmSync(toPath(dir, id), { force: true });
        },
      };
    },
  };
}

/** Looks at the folder at first and then whenever a part of what it may hold has been written. */
function createRoom(dir: string, { keepDays, maxBytes }: RecordingLimits) {
  const partBytes = maxBytes / 16;
  let unseenBytes = partBytes;
  let made = Promise.resolve();
  return {
    fill(bytes: number): void {
      unseenBytes += bytes;
      if (unseenBytes < partBytes) return;
      unseenBytes = 0;
      const limits = { keepDays, maxBytes: maxBytes - partBytes };
      made = made.then(() => pruneRecordings(dir, limits)).catch(() => {});
    },
    made: () => made,
  };
}

function touch(file: FileHandle): void {
  const now = new Date();
  file.utimes(now, now).catch(() => {});
}

/** Reads the recording of a command. */
export function readRecording(dir: string, id: string): Cast {
  const path = toPath(dir, id);
  try {
    return parseCast(readFileSync(path, 'utf8'), path);
  } catch (error) {
    if (error instanceof NacreError) throw error;
    throw new NacreError('invalid_request', `There is no recording of ${id}.`, {
      hint: 'Set record to true before the command is run; nacre history shows what ran.',
      cause: error,
    });
  }
}

function toPath(dir: string, id: string): string {
  if (/^[a-z]+_[0-9a-f]+$/.test(id)) return join(dir, `${id}${recordingSuffix}`);
  throw new NacreError('invalid_request', `${JSON.stringify(id)} is no id of a command.`, {
    hint: 'nacre history shows ids.',
  });
}
