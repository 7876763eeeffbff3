import type { JobState, OutputChunk, Stream } from '../../contract/job.ts';
import type { Outcome } from '../../contract/outcome.ts';
import { formatBytes } from '../../output/amounts.ts';
import { createSanitiser } from '../../output/sanitise.ts';
import type { RunContext } from '../context/call-context.ts';
import type { EngineDeps } from '../context/engine-deps.ts';
import { changesNotes, toFinished } from './shape-outcome.ts';

/** Collects the complete text of a command through `onOutput`. */
export interface OutputCollector {
  readonly onOutput: NonNullable<RunContext['onOutput']>;
  /** The outcome with the collected text; its cause is `output_limit` if that stopped the command. */
  toOutcome(state: JobState, cwd: string): Outcome;
}

/** Collects both streams uncut, for programs, and stops the command when one of them exceeds `maxStreamBytes`. */
export function collectOutput(
  { backend, stopOnCancel }: EngineDeps,
  id: string,
  maxStreamBytes: number,
): OutputCollector {
  const streams = { stdout: createStream(maxStreamBytes), stderr: createStream(maxStreamBytes) };
  let over: Stream | undefined;
  const push = ({ stream, data }: OutputChunk) => {
    if (streams[stream].push(data) || over !== undefined) return;
    over = stream;
    backend.stop(id, stopOnCancel).catch(() => {});
  };
  return {
    async onOutput(chunks) {
      for (const chunk of chunks) push(chunk);
    },
    toOutcome(state, cwd) {
      const [stdout, stderr] = [streams.stdout.end(), streams.stderr.end()];
      const ended = over && overLimit(over, maxStreamBytes);
      const texts = { stdout, stderr, truncated: over !== undefined };
      return { ...toFinished(state, cwd), ...ended, ...texts, warnings: changesNotes(state) };
    },
  };
}

function overLimit(stream: Stream, maxStreamBytes: number) {
  const detail = `The command wrote more than ${formatBytes(maxStreamBytes)} to ${stream} and was stopped.`;
  return { status: 'failed', cause: 'output_limit', detail } as const;
}

function createStream(maxBytes: number) {
  const sanitiser = createSanitiser({ nul: 'keep' });
  const texts: string[] = [];
  let room = maxBytes;
  return {
    /** Returns false if `data` exceeds the remaining space; the excess is dropped. */
    push(data: Uint8Array): boolean {
      const fits = data.length <= room;
      texts.push(sanitiser.push(fits ? data : data.subarray(0, room)));
      room -= Math.min(room, data.length);
      return fits;
    },
    end: () => texts.join('') + sanitiser.end(),
  };
}
