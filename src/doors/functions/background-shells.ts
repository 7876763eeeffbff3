import { z } from 'zod';
import type { StopOptions } from '../../contract/backend.ts';
import type { Stream } from '../../contract/job.ts';
import { commandText } from '../../contract/request.ts';
import type { CommandView } from '../../engine/commands/commands.ts';
import type { RunContext } from '../../engine/context/call-context.ts';
import type { Engine } from '../../engine/engine.ts';
import type { Reading } from '../../engine/reading/read-command.ts';
import { nextTurn } from '../../support/timing.ts';
import { receive } from '../../tools/common/define-tool.ts';
import { type ExecutionContext, toToolContext, workingDirNames } from './execution-context.ts';

/** Options of `BackgroundShells.start`. */
export interface ShellOptions extends Pick<ExecutionContext, 'env'> {
  /** Kills the shell after this time, with the status `timeout`; no limit by default. */
  readonly timeoutMs?: number | undefined;
}

/** The engine's calls for background shells, with owner and rules filled in. */
export interface BackgroundShells {
  start(command: string, workingDir: string | undefined, options: ShellOptions): Promise<CommandView>;
  /** Reads output starting at a byte position, as much as one call returns. */
  readFrom(id: string, cursor: number): Promise<Reading>;
  /** Reads the last characters of both streams. */
  readEnd(id: string, maxChars: number): Promise<Reading>;
  /** Reads the rest of a stream after the position that `BashOutput` uses, and advances that position. */
  readNew(id: string, stream: Stream): Promise<string>;
  /** Like `readNew`, starting at the beginning of the stream. */
  readAll(id: string, stream: Stream): Promise<string>;
  /** Returns the shell at its end, or after `waitMs` if that comes first. */
  waitForEnd(id: string, waitMs: number): Promise<CommandView>;
  /** Kills the shell; its status is then `timeout` or `killed`. */
  stop(id: string, cause?: 'timeout'): Promise<CommandView>;
  list(): Promise<readonly CommandView[]>;
  forget(id: string): Promise<void>;
}

const startSchema = z.strictObject({
  command: commandText,
  timeoutMs: z.int().min(1).max(86_400_000).optional(),
});
const idPrefix = 'shell';
const query = {
  waitMs: 0,
  maxChars: 4_194_304,
  keep: 'beginning',
  view: 'clean',
  howToReadOn: () => '',
} as const;

/** Creates the calls of `ShellManager` and `ShellProcess` for one engine. */
export function createBackgroundShells(
  open: () => Promise<Engine>,
  rules: Pick<RunContext, 'rules' | 'rulesOn' | 'cwdRoots'>,
  { owner, stopOptions }: { readonly owner: string; readonly stopOptions: StopOptions },
): BackgroundShells {
  const { caller } = toToolContext({});
  const context = { caller, owner };
  // A separate `reader`, so that the buffers of `ShellProcess` do not consume output that `BashOutput` would return.
  const bufferContext = { ...context, reader: `${owner} ShellProcess` };
  const readStream = async (id: string, stream: Stream, start?: number) => {
    const engine = await open();
    const parts: string[] = [];
    for (let cursor = start; ; ) {
      const found = await engine.read(id, { ...query, cursor, stream }, context);
      parts.push(found[stream]);
      await nextTurn();
      if (!found.isCut) return parts.join('');
      if (cursor !== undefined) cursor = found.next;
    }
  };
  return {
    async start(command, workingDir, { timeoutMs, ...rest }) {
      const args = receive('createShell', startSchema, { command, timeoutMs });
      const { workingDir: cwd, env } = toToolContext({ ...rest, workingDir }, 'createShell');
      const engine = await open();
      const { id } = await engine.start(
        {
          command: { kind: 'shell', script: args.command },
          cwd,
          env,
          timeoutMs: args.timeoutMs ?? null,
          stdin: 'empty',
          idPrefix,
        },
        { caller, owner, cwdNames: workingDirNames, ...rules },
      );
      return engine.waitForEnd(id, 0, context);
    },
    readFrom: async (id, cursor) => (await open()).read(id, { ...query, cursor }, bufferContext),
    readEnd: async (id, maxChars) =>
      (await open()).read(id, { ...query, keep: 'end', maxChars }, bufferContext),
    readNew: (id, stream) => readStream(id, stream),
    readAll: (id, stream) => readStream(id, stream, 0),
    async waitForEnd(id, waitMs) {
      const view = await (await open()).waitForEnd(id, waitMs, context);
      await nextTurn();
      return view;
    },
    stop: async (id, cause) => (await open()).stop(id, { ...stopOptions, cause }, context),
    async list() {
      const commands = await (await open()).list(context);
      await nextTurn();
      return commands.filter(({ id }) => id.startsWith(`${idPrefix}_`));
    },
    forget: async (id) => (await open()).forget(id, context),
  };
}
