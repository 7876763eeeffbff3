import { existsSync, rmSync } from 'node:fs';
import { type FileHandle, open } from 'node:fs/promises';
import { join } from 'node:path';
import { NacreError } from '../contract/failure.ts';
import type { OutputChunk, TerminalSize } from '../contract/job.ts';
import { makeFolder } from '../support/make-folder.ts';
import { ownIdentity } from '../support/process-identity.ts';
import { readRegularFile } from '../support/regular-file.ts';
import { createStopwatch } from '../support/timing.ts';
import { type Cast, parseCast, recordingSuffix, toEventLine, toHeaderLine } from './asciicast.ts';
import { pruneRecordings, type RecordingLimits, touchEveryMs } from './prune-recordings.ts';

/** Writes the recording of one command. */
export interface Recorder {
  add(chunks: readonly OutputChunk[]): Promise<void>;
  resize(size: TerminalSize): Promise<void>;
  /** Writes the exit code; an unknown one is left out. */
  end(exitCode: number | null): Promise<void>;
  /** Closes the file; without `end` before, the recording has no exit event. */
  close(): Promise<void>;
  /** Deletes the recording of a command that did not start. */
  discard(): Promise<void>;
}

/** Creates a `Recorder` for each command. */
export interface Recordings {
  begin(id: string, terminal: TerminalSize | undefined): Promise<Recorder>;
}

const defaultSize = { cols: 80, rows: 24 };

/** Creates recordings in `dir` and deletes old ones beyond `limits`. */
export function createRecordings(dir: string, limits: RecordingLimits): Recordings {
  const pruner = createPruner(dir, limits);
  return {
    async begin(id, terminal) {
      makeFolder(dir);
      const file = await open(toPath(dir, id), 'wx', 0o600);
      const decoders = { stdout: new TextDecoder(), stderr: new TextDecoder() };
      let elapsed = createStopwatch();
      const write = async (code: string, data: string) => {
        const after = elapsed() / 1_000;
        elapsed = createStopwatch();
        const { bytesWritten } = await file.write(toEventLine({ after, code, data }));
        pruner.wrote(bytesWritten);
      };
      const print = async (text: string) => {
        // Players need CR LF, which a terminal's line discipline would have made of LF.
        if (text !== '') await write('o', terminal ? text : text.replace(/\r?\n/g, '\r\n'));
      };
      const { cols, rows } = terminal ?? defaultSize;
      const timestamp = Math.floor(Date.now() / 1_000);
      const { bytesWritten } = await file.write(
        toHeaderLine({ cols, rows, timestamp, title: id }, ownIdentity()),
      );
      pruner.wrote(bytesWritten);
      const toucher = setInterval(() => touch(file), touchEveryMs).unref();
      const close = async () => {
        clearInterval(toucher);
        await file.close();
      };
      return {
        async add(chunks) {
          for (const { stream, data } of chunks) await print(decoders[stream].decode(data, { stream: true }));
        },
        resize: (size) => write('r', `${size.cols}x${size.rows}`),
        async end(exitCode) {
          for (const decoder of Object.values(decoders)) await print(decoder.decode());
          if (exitCode !== null) await write('x', String(exitCode));
        },
        async close() {
          await close();
          await pruner.done();
        },
        async discard() {
          await close();
          rmSync(toPath(dir, id), { force: true });
        },
      };
    },
  };
}

/** Prunes the folder at the first write, then each time another sixteenth of `maxBytes` was written. */
function createPruner(dir: string, { keepDays, maxBytes }: RecordingLimits) {
  const partBytes = maxBytes / 16;
  let bytesSincePruning = partBytes;
  let pruning = Promise.resolve();
  return {
    wrote(bytes: number): void {
      bytesSincePruning += bytes;
      if (bytesSincePruning < partBytes) return;
      bytesSincePruning = 0;
      const limits = { keepDays, maxBytes: maxBytes - partBytes };
      pruning = pruning.then(() => pruneRecordings(dir, limits)).catch(() => {});
    },
    done: () => pruning,
  };
}

function touch(file: FileHandle): void {
  const now = new Date();
  file.utimes(now, now).catch(() => {});
}

/** Whether a command was recorded. */
export function hasRecording(dir: string, id: string): boolean {
  try {
    return existsSync(toPath(dir, id));
  } catch {
    return false;
  }
}

/** Reads the recording of a command. */
export function readRecording(dir: string, id: string): Cast {
  const path = toPath(dir, id);
  try {
    return parseCast(readRegularFile(path), path);
  } catch (error) {
    if (error instanceof NacreError) throw error;
    throw new NacreError('invalid_request', `There is no recording of ${id}.`, {
      hint: 'Set record to true before the command runs; nacre history lists commands.',
      cause: error,
    });
  }
}

function toPath(dir: string, id: string): string {
  if (/^[a-z]+_[0-9a-f]+$/.test(id)) return join(dir, `${id}${recordingSuffix}`);
  throw new NacreError('invalid_request', `${JSON.stringify(id)} is not a command id.`, {
    hint: 'Run nacre history to see ids.',
  });
}
