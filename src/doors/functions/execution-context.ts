import { z } from 'zod';
import type { CwdNames } from '../../contract/decision.ts';
import type { OutputChunk, Stream } from '../../contract/job.ts';
import { directoryText, envMap } from '../../contract/request.ts';
import { receive } from '../../tools/common/define-tool.ts';
import type { ToolContext } from '../../tools/common/tool.ts';

/** Options of `FunctionTool.run` in addition to the tool's input. */
export interface ExecutionContext {
  /** The machine that commands run on: a name in the setting `machines`, or `local`; `default_machine` by default. */
  readonly on?: string | undefined;
  /** The directory that commands run in; a relative `cwd` in the input is resolved against it. */
  readonly workingDir?: string | undefined;
  /** Checks policy and runs nothing. */
  readonly dryRun?: boolean | undefined;
  /** The persistent shell to use; `main` by default. */
  readonly session?: string | undefined;
  /** Variables for commands, in addition to `process.env`. */
  readonly env?: Readonly<Record<string, string>> | undefined;
  /** Kills the command when aborted. */
  readonly signal?: AbortSignal | undefined;
  /**
   * Called with output while the command runs; a returned promise delays the next call, for backpressure. After the
   * command's end, a promise that does not settle within 5 s is abandoned, and no further call is made.
   */
  readonly onOutput?: ((piece: OutputPiece) => void | Promise<void>) | undefined;
}

/** Text that `onOutput` receives, in the order it was written. */
export interface OutputPiece {
  readonly stream: Stream;
  readonly text: string;
}

/** The schema of an option `signal`. */
export const signalSchema = z.instanceof(AbortSignal, { error: 'must be an AbortSignal' });

const contextSchema = z.strictObject({
  on: z.string().min(1).max(32).optional(),
  workingDir: directoryText('workingDir').optional(),
  dryRun: z.boolean().optional(),
  session: z.string().min(1).max(64).optional(),
  env: envMap.optional(),
  signal: signalSchema.optional(),
  onOutput: z
    .custom<ExecutionContext['onOutput']>((value) => typeof value === 'function', 'must be a function')
    .optional(),
});

/** Names for errors about the directory that a program passes, and the setting that restricts it. */
export const workingDirNames: CwdNames = { field: 'workingDir', setting: 'allowedCwdRoots' };

/**
 * Converts a program's context for tools; throws for an invalid one, which is a bug in the program. `name` is what the
 * program calls it.
 */
export function toToolContext(context: ExecutionContext, name = 'the context'): ToolContext {
  const hint = 'Correct these fields; nothing was run.';
  const { onOutput, ...rest } = receive(name, contextSchema, context, hint);
  const caller = { door: 'functions', client: 'in process' } as const;
  // All calls share one owner: code with access to the engine can see all of its commands anyway.
  return {
    caller,
    owner: caller.client,
    ...rest,
    ...(onOutput && { onOutput: decoding(onOutput), outputGraceMs }),
  };
}

// The program's promise may never settle, but the call must end.
const outputGraceMs = 5_000;

function decoding(onOutput: NonNullable<ExecutionContext['onOutput']>) {
  // One `TextDecoder` per stream, because a character may be split between two chunks.
  const create = () => new TextDecoder('utf-8', { ignoreBOM: true });
  const decoders = { stdout: create(), stderr: create() };
  return async (chunks: readonly OutputChunk[]) => {
    for (const { stream, data } of chunks) {
      const text = decoders[stream].decode(data, { stream: true });
      if (text !== '') await onOutput({ stream, text });
    }
  };
}
