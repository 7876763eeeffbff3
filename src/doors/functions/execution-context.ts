import { z } from 'zod';
import type { OutputChunk, Stream } from '../../contract/job.ts';
import { cwdText, envMap } from '../../contract/request.ts';
import type { ToolContext } from '../../tools/define-tool.ts';
import { receive } from '../../tools/receive.ts';

/** What a program says about a call beside the input: where, how, and how it listens. */
export interface ExecutionContext {
  /** The directory that commands run in; a relative `cwd` in the input is meant from there. */
  readonly workingDir?: string | undefined;
  /** Policy decides and nothing runs. */
  readonly dryRun?: boolean | undefined;
  /** The persistent shell that the call means; `main` when it is left out. */
  readonly session?: string | undefined;
  /** Variables that commands get beside those of the process. */
  readonly env?: Readonly<Record<string, string>> | undefined;
  /** Ends the command when it fires. */
  readonly signal?: AbortSignal | undefined;
  /** Gets output while the command runs; what it returns is waited for, so that a slow listener is never flooded. */
  readonly onOutput?: ((piece: OutputPiece) => void | Promise<void>) | undefined;
}

/** Some text of one stream, in the order in which it came. */
export interface OutputPiece {
  readonly stream: Stream;
  readonly text: string;
}

const contextSchema = z.strictObject({
  workingDir: cwdText.optional(),
  dryRun: z.boolean().optional(),
  session: z.string().min(1).max(64).optional(),
  env: envMap.optional(),
  signal: z.instanceof(AbortSignal, { error: 'must be an AbortSignal' }).optional(),
  onOutput: z
    .custom<ExecutionContext['onOutput']>((value) => typeof value === 'function', 'must be a function')
    .optional(),
});

/** The side of the caller as tools know it; throws for a context that is not one, since a program is wrong then. */
export function toToolContext(context: ExecutionContext): ToolContext {
  const { onOutput, ...rest } = receive('the context', contextSchema, context);
  const pass = onOutput && { onOutput: decoding(onOutput) };
  // Whoever holds the engine holds all of its commands.
  const caller = { door: 'functions', client: 'in process' } as const;
  return { caller, owner: caller.client, ...rest, ...pass };
}

function decoding(onOutput: NonNullable<ExecutionContext['onOutput']>) {
  // A character may be split between two chunks of its stream.
  const decoders = { stdout: new TextDecoder(), stderr: new TextDecoder() };
  return async (chunks: readonly OutputChunk[]) => {
    for (const { stream, data } of chunks) {
      const text = decoders[stream].decode(data, { stream: true });
      if (text !== '') await onOutput({ stream, text });
    }
  };
}
