// A person in front of a command of a running server:
// 1. what it prints is shown, as it is, 2. what is typed goes to it, over a connection of its own. At a terminal of its own the
// command gets every key; without one it gets lines, as this terminal makes them. 3. Ctrl-] leaves it.
import { StringDecoder } from 'node:string_decoder';
import type { ReadStream } from 'node:tty';
import type { ListedCommand } from '../../engine/commands/commands.ts';
import type { Assembly, Io } from '../door.ts';
import { toSentences, write } from '../say.ts';
import { reachCommand } from './reach-command.ts';
import type { ReachedServer } from './reach-servers.ts';
import { showOutput } from './show-output.ts';

const detachKey = '\x1d';

/** Puts this terminal in front of a command until it ends, or until Ctrl-] is pressed. */
export async function open({ io, words, controlDir }: Assembly): Promise<number> {
  const { server, command } = await reachCommand(controlDir, words, 'attach');
  // A call that waits for output must not hold up what is typed.
  const writer = await server.again();
  const leaving = new AbortController();
  leaving.signal.addEventListener('abort', server.close);
  const letGo = takeKeys(io, command, {
    type: (text, eof) => void type(writer, command, { text, eof }, io),
    leave: () => leaving.abort(),
  });
  try {
    const { stdoutBytes, stderrBytes } = command.state;
    const from = command.hasScreen ? 0 : stdoutBytes + stderrBytes;
    const { end } = await showOutput(server, command.id, io, { from, view: 'raw', follow: true });
    return end?.exitCode ?? 0;
  } catch (error) {
    if (!leaving.signal.aborted) throw error;
    await write(io.stdout, `\r\nDetached; ${command.id} goes on.\n`);
    return 0;
  } finally {
    letGo();
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
    await write(io.stderr, toSentences(error).replaceAll('\n', '\r\n'));
  }
}

interface Typist {
  type(text: string, eof: boolean): void;
  leave(): void;
}

function takeKeys(
  { stdin, interrupted }: Io,
  { hasScreen }: ListedCommand,
  { type, leave }: Typist,
): () => void {
  const terminal = stdin as Io['stdin'] & Partial<ReadStream>;
  const decoder = new StringDecoder();
  const onData = (data: Buffer) => {
    const [text = '', ...rest] = decoder.write(data).split(detachKey);
    if (text !== '') type(text, false);
    if (rest.length > 0) leave();
  };
  // There the end of input is a key like any other.
  const onEnd = () => {
    if (!hasScreen) type('', true);
  };
  if (hasScreen) terminal.setRawMode?.(true);
  stdin.on('data', onData).on('end', onEnd);
  interrupted.addEventListener('abort', leave);
  return () => {
    stdin.off('data', onData).off('end', onEnd);
    interrupted.removeEventListener('abort', leave);
    if (hasScreen) terminal.setRawMode?.(false);
  };
}
