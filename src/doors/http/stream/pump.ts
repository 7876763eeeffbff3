import type { Cursor } from '../../../contract/job.ts';
import type { Asker } from '../../../engine/commands/commands.ts';
import type { Engine } from '../../../engine/engine.ts';
import { createDecoder } from './decoder.ts';
import type { ServerMessage } from './messages.ts';

/** A command whose output goes to a socket. */
export interface PumpedCommand {
  /** What the client calls it. */
  readonly id: string;
  readonly commandId: string;
  readonly encoding: 'utf8' | 'base64';
  /** True at a terminal: there is no reason for it to end by itself. */
  readonly isEndless: boolean;
  readonly asker: Asker;
  /** Told once what it came to. */
  readonly done: (outcome: string) => void;
}

/** Sends a message and resolves when the other side has room for the next; false when it is gone. */
export type Outlet = (message: ServerMessage) => Promise<boolean>;

const pieceBytes = 65_536;
const waitMs = 5_000;
// A command that has been silent for this long may wait for input; looking at it costs something, so looks get rarer.
const firstLookMs = 400;
const lookBackBytes = 65_536;

/**
 * Tells the output of a command from a position on, and then its end. What the client does not take stays in the log,
 * so that a slow reader costs no memory. Resolves to true when the end has been told.
 */
export async function pump(
  engine: Engine,
  command: PumpedCommand,
  from: Cursor,
  { send, signal }: { readonly send: Outlet; readonly signal: AbortSignal },
): Promise<boolean> {
  const { id, commandId, asker } = command;
  const read = (at: Cursor, maxBytes: number, patienceMs: number) =>
    engine.readBytes(commandId, at, { waitMs: patienceMs, maxBytes }, asker);
  const back = Math.max(0, from - lookBackBytes);
  const before = from === 0 ? [] : (await read(back, from - back, 0)).chunks;
  const decoder = createDecoder(command.encoding, before);
  let patienceMs = firstLookMs;
  let cursor = from;
  for (;;) {
    const { chunks, next, end, final } = await read(cursor, pieceBytes, patienceMs);
    for (const chunk of chunks) {
      if (signal.aborted) return false;
      cursor += chunk.data.length;
      const data = decoder.decode(chunk);
      if (data !== '' && !(await send({ type: `shell.${chunk.stream}`, id, data, cursor }))) return false;
    }
    if (signal.aborted) return false;
    if (final && next === end) break;
    if (chunks.length > 0) patienceMs = firstLookMs;
    else if (patienceMs < waitMs) {
      patienceMs = Math.min(waitMs, patienceMs * 2);
      const { look } = await engine.look(commandId, asker);
      if (look.awaitingInput) {
        patienceMs = waitMs;
        await send({ type: 'shell.awaiting_input', id, cursor });
      }
    }
  }
  for (const { stream, data } of decoder.end()) await send({ type: `shell.${stream}`, id, data, cursor });
  return send(await toExit(engine, command, cursor));
}

async function toExit(engine: Engine, command: PumpedCommand, cursor: Cursor): Promise<ServerMessage> {
  const { state } = await engine.look(command.commandId, command.asker);
  const { exitCode = 0, signal = null, cause = 'exit', detail = null } = state.end ?? {};
  command.done(cause === 'exit' ? `exit ${exitCode}` : cause);
  return {
    type: 'shell.exit',
    id: command.id,
    code: exitCode,
    signal,
    cause,
    ...(detail !== null && { detail }),
    cursor,
    duration_ms: state.durationMs,
  };
}
