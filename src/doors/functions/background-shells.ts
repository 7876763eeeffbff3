import { z } from 'zod';
import type { StopOptions } from '../../contract/backend.ts';
import { commandText } from '../../contract/request.ts';
import type { CommandView } from '../../engine/commands/commands.ts';
import type { RunContext } from '../../engine/context/call-context.ts';
import type { Engine } from '../../engine/engine.ts';
import type { Reading } from '../../engine/reading/read-command.ts';
import { receive } from '../../tools/common/define-tool.ts';
import { type ExecutionContext, toToolContext } from './execution-context.ts';

/** Options of `BackgroundShells.start`. */
export interface ShellOptions extends Pick<ExecutionContext, 'env'> {
  /** Kills the shell after this time, with the status `timeout`; no limit by default. */
  readonly timeoutMs?: number | undefined;
}

/** The engine's calls for background shells, with owner and rules filled in. */
export interface BackgroundShells {
  start(command: string, workingDir: string | undefined, options: ShellOptions): Promise<CommandView>;
  /** Reads output starting at a byte position, after waiting up to `waitMs` for the shell to end. */
  read(id: string, cursor: number, waitMs: number): Promise<Reading>;
  stop(id: string): Promise<CommandView>;
  list(): Promise<readonly CommandView[]>;
  forget(id: string): Promise<void>;
}

const startSchema = z.strictObject({
  command: commandText,
  timeoutMs: z.int().min(1).max(86_400_000).optional(),
});
const idPrefix = 'shell';
const maxReadChars = 200_000;

/** Creates the calls of `ShellManager` and `ShellProcess` for one engine. */
export function createBackgroundShells(
  open: () => Promise<Engine>,
  rules: Pick<RunContext, 'rules' | 'cwdRoots'>,
  { owner, stopOptions }: { readonly owner: string; readonly stopOptions: StopOptions },
): BackgroundShells {
  const { caller } = toToolContext({});
  // A separate `reader`, so that `ShellProcess` does not consume output that `BashOutput` would return.
  const context = { caller, owner, reader: `${owner} ShellProcess` };
  return {
    async start(command, workingDir, { timeoutMs, ...rest }) {
      const args = receive('createShell', startSchema, { command, timeoutMs });
      const { workingDir: cwd, env } = toToolContext({ ...rest, workingDir });
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
        { caller, owner, ...rules },
      );
      return engine.read(id, { ...toQuery(0, 0), maxChars: 1 }, context);
    },
    read: async (id, cursor, waitMs) => (await open()).read(id, toQuery(cursor, waitMs), context),
    stop: async (id) => (await open()).stop(id, stopOptions, context),
    async list() {
      const commands = await (await open()).list(context);
      return commands.filter(({ id }) => id.startsWith(`${idPrefix}_`));
    },
    forget: async (id) => (await open()).forget(id, context),
  };
}

function toQuery(cursor: number, waitMs: number) {
  const query = { cursor, waitMs, maxChars: maxReadChars, keep: 'beginning', view: 'clean' } as const;
  return { ...query, howToReadOn: () => '' };
}
