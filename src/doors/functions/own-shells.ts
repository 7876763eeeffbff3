import { z } from 'zod';
import type { StopOptions } from '../../contract/backend.ts';
import { commandText } from '../../contract/request.ts';
import type { CommandView } from '../../engine/commands.ts';
import type { Engine } from '../../engine/engine.ts';
import type { Reading } from '../../engine/read-command.ts';
import type { RunContext } from '../../engine/run.ts';
import { receive } from '../../tools/receive.ts';
import { type ExecutionContext, toToolContext } from './execution-context.ts';

/** How a background shell is started. */
export interface ShellOptions extends Pick<ExecutionContext, 'env'> {
  /** After this the shell is ended, and its status is `timeout`; without it there is no limit. */
  readonly timeoutMs?: number | undefined;
}

/** The engine's calls for background shells, with owner and rules filled in. */
export interface Shells {
  start(command: string, workingDir: string | undefined, options: ShellOptions): Promise<CommandView>;
  /** Reads from a position on, after waiting for the end as long as is said. */
  read(id: string, cursor: number, waitMs: number): Promise<Reading>;
  stop(id: string): Promise<CommandView>;
  list(): Promise<readonly CommandView[]>;
  forget(id: string): Promise<void>;
}

const startSchema = z.strictObject({
  command: commandText,
  timeoutMs: z.int().min(1).max(86_400_000).optional(),
});
const prefix = 'shell';
const pieceChars = 200_000;

/** Makes these calls of an engine. */
export function ownShells(
  open: () => Promise<Engine>,
  rules: Pick<RunContext, 'rules' | 'cwdRoots'>,
  { owner, ladder }: { readonly owner: string; readonly ladder: StopOptions },
): Shells {
  const { caller } = toToolContext({});
  // Looking at a shell must not count as reading for the tools.
  const asker = { caller, owner, reader: `${owner} looks` };
  const list = async () => (await (await open()).list(asker)).filter(({ id }) => id.startsWith(`${prefix}_`));
  return {
    async start(command, workingDir, { timeoutMs, ...rest }) {
      const given = receive('createShell', startSchema, { command, timeoutMs });
      const { workingDir: cwd, env } = toToolContext({ ...rest, workingDir });
      const script = { kind: 'shell', script: given.command } as const;
      const limit = given.timeoutMs ?? null;
      const engine = await open();
      const { id } = await engine.start(
        { command: script, cwd, env, timeoutMs: limit, stdin: 'empty', idPrefix: prefix },
        { caller, owner, ...rules },
      );
      return engine.read(id, { ...queryFor(0, 0), maxChars: 1 }, asker);
    },
    read: async (id, cursor, waitMs) => (await open()).read(id, queryFor(cursor, waitMs), asker),
    stop: async (id) => (await open()).stop(id, ladder, asker),
    list,
    forget: async (id) => (await open()).forget(id, asker),
  };
}

function queryFor(cursor: number, waitMs: number) {
  const query = { cursor, waitMs, maxChars: pieceChars, keep: 'beginning', view: 'clean' } as const;
  return { ...query, howToReadOn: () => '' };
}
