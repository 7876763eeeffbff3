// Connects this terminal to a command of a running server:
// 1. its output is printed unchanged, 2. typed input goes to it over a second connection: every key if the command has
// a terminal, otherwise lines as this terminal edits them, 3. Ctrl-] detaches.
import { StringDecoder } from 'node:string_decoder';
import type { ReadStream } from 'node:tty';
import type { ListedCommand } from '../../engine/commands/commands.ts';
import type { ReachedServer, ServerFolder } from '../../servers/reach-servers.ts';
import type { Arguments, Io, IoAccess } from '../door.ts';
import { failedExit } from '../exit-codes.ts';
import { print, toErrorText } from '../print.ts';
import { reachCommand } from './reach-command.ts';
import { showOutput } from './show-output.ts';

const detachKey = '\x1d';

/** Connects this terminal to a command until the command ends or Ctrl-] is pressed. */
export async function attachDoor(deps: IoAccess & Arguments & ServerFolder): Promise<number> {
  const { io, words } = deps;
  const { server, command } = await reachCommand(deps, words, 'attach');
  // A second connection, because a `read` that waits for output would block a `write` on the same one.
  const writer = await server.reconnect();
  const detaching = new AbortController();
  detaching.signal.addEventListener('abort', server.close);
  const stopReading = readKeys(io, command, {
    type: (text, eof) => void type(writer, command, { text, eof }, io),
    detach: () => detaching.abort(),
  });
  try {
    const { stdoutBytes, stderrBytes } = command.state;
    const from = command.hasScreen ? 0 : stdoutBytes + stderrBytes;
    const { end } = await showOutput(server, command.id, io, { from, view: 'raw', follow: true });
    return end ? (end.exitCode ?? failedExit) : 0;
  } catch (error) {
    if (!detaching.signal.aborted) throw error;
    await print(io.stdout, `\r\nDetached; ${command.id} keeps running.\n`);
    return 0;
  } finally {
    stopReading();
    for (const one of [server, writer]) one.close();
  }
}

async function type(
  writer: ReachedServer,
  { id }: ListedCommand,
  { text, eof }: { readonly text: string; readonly eof: boolean },
  io: Io,
): Promise<void> {
  try {
    await writer.call({ method: 'write', id, input: { text, eof, secret: false } });
  } catch (error) {
    await print(io.stderr, toErrorText(error).replaceAll('\n', '\r\n'));
  }
}

interface KeyHandlers {
  type(text: string, eof: boolean): void;
  detach(): void;
}

function readKeys(
  { stdin, interrupted }: Io,
  { hasScreen }: ListedCommand,
  { type, detach }: KeyHandlers,
): () => void {
  const terminal = stdin as Io['stdin'] & Partial<ReadStream>;
  const decoder = new StringDecoder();
  const onData = (data: Buffer) => {
    const [text = '', ...rest] = decoder.write(data).split(detachKey);
    if (text !== '') type(text, false);
    if (rest.length > 0) detach();
  };
  // A command in a terminal gets Ctrl-D as a key instead.
  const onEnd = () => {
    if (!hasScreen) type('', true);
  };
  if (hasScreen) terminal.setRawMode?.(true);
  stdin.on('data', onData).on('end', onEnd);
  interrupted.addEventListener('abort', detach);
  return () => {
    stdin.off('data', onData).off('end', onEnd);
    interrupted.removeEventListener('abort', detach);
    if (hasScreen) terminal.setRawMode?.(false);
  };
}
