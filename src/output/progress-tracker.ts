import type { Stream } from '../contract/job.ts';
import { fromLineStart } from './resync.ts';
import { sanitise } from './sanitise.ts';
import { safeCut } from './surrogates.ts';
import { unfinishedBytes } from './utf8.ts';

/** Result of `ProgressTracker.snapshot`: the progress of a command as seen in its output. */
export interface ProgressSnapshot {
  readonly lines: number;
  readonly bytes: number;
  /** The newest line that is not blank, finished or not, cut to `maxLineChars`. */
  readonly lastLine: string;
}

/** Tracks the output of a running command. */
export interface ProgressTracker {
  push(stream: Stream, chunk: Uint8Array): void;
  snapshot(): ProgressSnapshot;
}

/** Creates a tracker that counts lines and bytes and keeps only the last `tailBytes` of each stream. */
export function createProgressTracker(): ProgressTracker {
  const tails = { stdout: createTail(), stderr: createTail() };
  let newest: Stream = 'stdout';
  let lines = 0;
  let bytes = 0;
  return {
    push(stream, chunk) {
      if (chunk.length === 0) return;
      newest = stream;
      lines += countLineEnds(chunk);
      bytes += chunk.length;
      tails[stream].push(chunk);
    },
    snapshot() {
      const older = newest === 'stdout' ? 'stderr' : 'stdout';
      return { lines, bytes, lastLine: lastLine(tails[newest].bytes()) || lastLine(tails[older].bytes()) };
    },
  };
}

function countLineEnds(chunk: Uint8Array): number {
  let count = 0;
  for (let i = 0; i < chunk.length; i += 1) if (chunk[i] === 0x0a) count += 1;
  return count;
}

/** Keeps the last `tailBytes` of a stream; `bytes()` starts where they can be decoded. */
function createTail() {
  const held = new Uint8Array(tailBytes);
  let length = 0;
  let isCut = false;
  return {
    push(chunk: Uint8Array) {
      const added = chunk.subarray(-tailBytes);
      const kept = Math.min(length, tailBytes - added.length);
      isCut ||= length + chunk.length > tailBytes;
      held.copyWithin(0, length - kept, length);
      held.set(added, kept);
      length = kept + added.length;
    },
    bytes: () => (isCut ? fromLineStart(held.subarray(0, length)) : held.subarray(0, length)),
  };
}

function lastLine(bytes: Uint8Array): string {
  const complete = bytes.subarray(0, bytes.length - unfinishedBytes(bytes));
  const line = sanitise(complete).trimEnd().split('\n').at(-1) ?? '';
  return line.slice(0, safeCut(line, maxLineChars));
}

const tailBytes = 2_048;
const maxLineChars = 200;
