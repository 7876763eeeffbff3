import { StringDecoder } from 'node:string_decoder';
import type { ReadStream } from 'node:tty';
import type { Assembly, Io } from '../door.ts';
import { write } from '../say.ts';
import { oneWord, reachCommand } from './reach-servers.ts';
import { showOutput } from './show-output.ts';

const detachKey = '\x1d';

/** Puts this terminal in front of a command of a running server until it ends, or until Ctrl-] is pressed. */
export async function open({ io, words, controlDir }: Assembly): Promise<number> {
  const { server, command } = await reachCommand(controlDir, oneWord('attach', words));
  // A call that waits for output must not hold up what is typed.
  const writer = (await reachCommand(controlDir, command.id)).server;
  const { stdoutBytes, stderrBytes } = command.state;
  const type = (text: string) =>
    void writer
      .call({ method: 'write', id: command.id, input: { text, eof: false, secret: false } })
      .catch((error: Error) => write(io.stderr, `nacre: ${error.message}\r\n`));
  const letGo = takeKeys(io, type, server.close);
  try {
    const from = command.hasScreen ? 0 : stdoutBytes + stderrBytes;
    const { end } = await showOutput(server, command.id, io, { from, view: 'raw', follow: true });
    return end?.exitCode ?? 0;
  } catch {
    await write(io.stdout, `\r\nDetached; ${command.id} goes on.\n`);
    return 0;
  } finally {
    letGo();
    for (const one of [server, writer]) one.close();
  }
}

function takeKeys({ stdin, interrupted }: Io, type: (text: string) => void, detach: () => void): () => void {
  const terminal = stdin as Io['stdin'] & Partial<ReadStream>;
  const decoder = new StringDecoder();
  const onData = (data: Buffer) => {
    const text = decoder.write(data);
    if (text.includes(detachKey)) detach();
    else if (text !== '') type(text);
  };
  terminal.setRawMode?.(true);
  stdin.on('data', onData);
  interrupted.addEventListener('abort', detach);
  return () => {
    stdin.off('data', onData);
    terminal.setRawMode?.(false);
  };
}
