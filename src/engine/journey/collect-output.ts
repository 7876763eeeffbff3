import type { JobState, OutputChunk, Stream } from '../../contract/job.ts';
import type { Outcome } from '../../contract/outcome.ts';
import { formatBytes } from '../../output/amounts.ts';
import { createSanitiser } from '../../output/sanitise.ts';
import type { EngineParts, RunContext } from '../run.ts';
import { toFinished } from './shape-outcome.ts';

/** Gathers all the text of a command while it runs. */
export interface WholeOutput {
  readonly listening: Pick<RunContext, 'onOutput'>;
  /** The outcome with all that was gathered; its cause is the limit when that ended the command. */
  toOutcome(state: JobState, cwd: string): Outcome;
}

/**
 * Gathers what a command writes as text for a program, uncut, and ends the command when one of its streams has more
 * bytes than the limit. Nothing is gathered without a limit.
 */
export function gatherWhole(
  { backend, cancelling }: EngineParts,
  id: string,
  maxStreamBytes: number | undefined,
): WholeOutput | undefined {
  if (maxStreamBytes === undefined) return undefined;
  const streams = { stdout: createStream(maxStreamBytes), stderr: createStream(maxStreamBytes) };
  let over: Stream | undefined;
  const take = ({ stream, data }: OutputChunk) => {
    if (streams[stream].take(data) || over !== undefined) return;
    over = stream;
    backend.stop(id, cancelling).catch(() => {});
  };
  return {
    listening: {
      async onOutput(chunks) {
        for (const chunk of chunks) take(chunk);
      },
    },
    toOutcome(state, cwd) {
      const [stdout, stderr] = [streams.stdout.end(), streams.stderr.end()];
      const ended = over && overLimit(over, maxStreamBytes);
      const texts = { stdout, stderr, truncated: over !== undefined, warnings: [] };
      return { ...toFinished(state, cwd), ...ended, ...texts };
    },
  };
}

function overLimit(stream: Stream, maxStreamBytes: number) {
  const detail = `The command wrote more than ${formatBytes(maxStreamBytes)} to ${stream} and was ended.`;
  return { status: 'failed', cause: 'output_limit', detail } as const;
}

function createStream(maxBytes: number) {
  const sanitiser = createSanitiser({ nul: 'keep' });
  const texts: string[] = [];
  let room = maxBytes;
  return {
    /** False when there was no room for all of it. */
    take(data: Uint8Array): boolean {
      const fits = data.length <= room;
      texts.push(sanitiser.push(fits ? data : data.subarray(0, room)));
      room -= Math.min(room, data.length);
      return fits;
    },
    end: () => texts.join('') + sanitiser.end(),
  };
}
