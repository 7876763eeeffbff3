import type { Cursor } from '../../../contract/job.ts';
import type { CallerContext } from '../../../engine/context/call-context.ts';
import type { Engine } from '../../../engine/engine.ts';
import type { StreamedText } from '../../../engine/reading/stream-text.ts';
import { type ReadLog, readRange, tail } from '../../../support/tail.ts';
import { createDecoder, type OutputFormat } from './decoder.ts';
import type { ServerMessage } from './messages.ts';

/** A command whose output goes to a socket. */
export interface StreamedCommand {
  /** The client's id for it. */
  readonly id: string;
  readonly commandId: string;
  readonly format: OutputFormat;
  /** True for a command in a terminal, which is not expected to exit on its own. */
  readonly isEndless: boolean;
  readonly context: CallerContext;
}

/** Sends a message and resolves once the socket has written it; false if the socket is closed. */
export type SendMessage = (message: ServerMessage) => Promise<boolean>;

const pieceBytes = 65_536;
const maxWaitMs = 5_000;
// After this much silence `look` checks whether the command waits for input; the check is costly, so the interval
// doubles.
const firstCheckMs = 400;
const lookBackBytes = 65_536;
// How long an unfinished line is held back, since more of it usually follows at once.
const holdMs = 50;

/**
 * Sends the output of a command, starting at a cursor, and then its end. Output that the client has not read stays in the
 * command's log, so a slow client costs no memory. Resolves to true once the end has been sent.
 */
export async function pump(
  engine: Engine,
  command: StreamedCommand,
  from: Cursor,
  { send, signal }: { readonly send: SendMessage; readonly signal: AbortSignal },
): Promise<boolean> {
  const { id, commandId, context } = command;
  const read: ReadLog = (at, options) => engine.readBytes(commandId, at, options, context);
  const before = await readRange(read, Math.max(0, from - lookBackBytes), from);
  const decoder = createDecoder(engine, command.format, { chunks: before, to: from });
  let waitMs = firstCheckMs;
  let cursor = from;
  const sendAll = async (pieces: readonly StreamedText[]) => {
    for (const { stream, data, cursor: at } of pieces)
      if (data !== '' && !(await send({ type: `shell.${stream}`, id, data, cursor: at }))) return false;
    return true;
  };
  const nextWaitMs = () => (decoder.isHolding() ? holdMs : waitMs);
  const pieces = tail(read, from, { waitMs: nextWaitMs, maxBytes: pieceBytes });
  for await (const { chunks, next, goneBytes, isLast } of pieces) {
    if (goneBytes > 0) {
      await sendAll(decoder.flush(cursor, true));
      cursor = next;
      if (!(await send({ type: 'shell.gone', id, bytes: goneBytes, cursor }))) return false;
    }
    for (const chunk of chunks) {
      if (signal.aborted) return false;
      cursor += chunk.data.length;
      if (!(await sendAll(decoder.push(chunk, cursor)))) return false;
    }
    if (signal.aborted) return false;
    if (isLast) break;
    if (chunks.length > 0) waitMs = firstCheckMs;
    else if (decoder.isHolding()) await sendAll(decoder.flush(cursor));
    else if (waitMs < maxWaitMs) {
      waitMs = Math.min(maxWaitMs, waitMs * 2);
      const { look } = await engine.observe(commandId, context);
      if (look.awaitingInput) {
        waitMs = maxWaitMs;
        await sendAll(decoder.flush(cursor, true));
        await send({ type: 'shell.awaiting_input', id, cursor });
      }
    }
  }
  await sendAll(decoder.end(cursor));
  return send(await toExit(engine, command, cursor));
}

const onlyState = { waitMs: 0, keep: 'end', view: 'clean', maxChars: 1, howToReadOn: () => '' } as const;

async function toExit(engine: Engine, command: StreamedCommand, cursor: Cursor): Promise<ServerMessage> {
  const { state, hint } = await engine.read(command.commandId, { ...onlyState, cursor }, command.context);
  const { exitCode = 0, signal = null, cause = 'exit', detail = null } = state.end ?? {};
  return {
    type: 'shell.exit',
    id: command.id,
    code: exitCode,
    signal,
    cause,
    ...(detail !== null && { detail }),
    ...(hint !== null && { hint }),
    cursor,
    duration_ms: state.durationMs,
  };
}
