// One WebSocket:
// 1. `dispatch` validates each message, 2. `shell.run` starts a command and stream-commands.ts sends its output,
// 3. the other messages write to it, signal it, resize it, or resume it after a lost connection,
// 4. when the socket closes, its commands stay resumable for a minute (resumable-commands.ts).
import type { WebSocket } from 'ws';
import { NacreError, shuttingDown } from '../../../contract/failure.ts';
import type { Engine } from '../../../engine/engine.ts';
import { createId } from '../../../support/ids.ts';
import { type HttpCaller, toCaller } from '../access/callers.ts';
import { charge } from '../access/rate-limit.ts';
import { toFailure } from '../requests/problem.ts';
import { dispatch, type MessageHandlers, type RefusedMessage } from './dispatch.ts';
import { createIntake } from './intake.ts';
import type { ClientMessage, ClientType } from './messages.ts';
import type { SendMessage } from './pump.ts';
import type { ResumableCommand, ResumableCommands } from './resumable-commands.ts';
import { createSocketStreams } from './stream-commands.ts';

/** Dependencies of every socket. */
export interface SocketDeps {
  readonly engine: () => Promise<Engine>;
  /** Applies changed settings before a command is judged. */
  readonly refresh: () => Promise<void>;
  readonly commands: ResumableCommands;
  readonly isClosing: () => boolean;
  readonly log: (message: string) => void;
}

/** Serves one socket of a caller until it closes. */
export function serveSocket(deps: SocketDeps, socket: WebSocket, caller: HttpCaller): void {
  const send = sendTo(socket);
  const intake = createIntake(socket);
  const streams = createSocketStreams(deps, socket, send);
  const refuse = ({ id, cause }: RefusedMessage) => {
    const { body } = toFailure(cause, deps.log);
    return send({ type: 'shell.error', id, ...body });
  };
  // Not awaited, because it lasts as long as the command.
  const follow = (command: ResumableCommand, from: number) =>
    void streams.stream(command, from).catch((cause) => refuse({ id: command.id, cause }));
  const handlers = createHandlers(deps, caller, follow);
  socket.on('message', (data, isBinary) => {
    const { length } = data as Buffer;
    intake.hold(length, dispatch(handlers, data, isBinary).catch(refuse));
  });
  socket.on('close', streams.close);
}

function createHandlers(
  deps: SocketDeps,
  caller: HttpCaller,
  follow: (command: ResumableCommand, from: number) => void,
): MessageHandlers {
  const context = { caller: toCaller(caller), owner: caller.owner } as const;
  const starting = new Map<string, Promise<ResumableCommand>>();

  // Messages sent right after `shell.run` wait until the command has started.
  const find = async (id: string): Promise<ResumableCommand> => {
    await starting.get(id)?.catch(() => {});
    const found = deps.commands.find(caller.owner, id);
    if (!found) throw notFound(id);
    return found;
  };
  const write = async (
    id: string,
    input: { text?: string; keys?: string[]; eof?: boolean; resize?: { cols: number; rows: number } },
  ) => {
    const engine = await deps.engine();
    const { commandId } = await find(id);
    await engine.write(commandId, { text: '', eof: false, secret: false, ...input }, context);
  };
  const handlers: { readonly [Type in ClientType]: (message: ClientMessage<Type>) => Promise<void> } = {
    async 'shell.run'(message) {
      const id = message.id ?? createId('cmd');
      if (deps.isClosing()) throw shuttingDown();
      if (!deps.commands.reserve(caller.owner, id)) throw isInUse(id);
      const started = start(deps, caller, id, message);
      starting.set(id, started);
      follow(await started.finally(() => starting.delete(id)), 0);
    },
    'shell.stdin': ({ id, data, eof }) => write(id, { text: data, eof }),
    async 'shell.signal'({ id, signal }) {
      if (signal === 'SIGINT') return write(id, { keys: ['ctrl-c'] });
      await (await deps.engine()).stop((await find(id)).commandId, { signal, graceMs }, context);
    },
    'shell.resize': ({ id, cols, rows }) => write(id, { resize: { cols, rows } }),
    async 'shell.resume'({ id, cursor }) {
      const command = await find(id);
      const { state } = await (await deps.engine()).observe(command.commandId, context);
      if (cursor > state.stdoutBytes + state.stderrBytes) throw beyondEnd(id, cursor);
      follow(command, cursor);
    },
  };
  return handlers;
}

const graceMs = 2_000;

async function start(
  { commands, refresh, engine }: SocketDeps,
  caller: HttpCaller,
  id: string,
  {
    command,
    args,
    on,
    cwd,
    env,
    stdin,
    timeout_ms,
    pty: terminal,
    raw,
    encoding,
  }: ClientMessage<'shell.run'>,
): Promise<ResumableCommand> {
  const context = { caller: toCaller(caller), owner: caller.owner } as const;
  const argv = [command, ...args] as const;
  try {
    charge(caller, 'commands');
    await refresh();
    const { shells, rules } = caller.terminal;
    const started = await (await engine()).start(
      { command: { kind: 'argv', argv }, on, cwd, env, stdin, timeoutMs: timeout_ms ?? null, terminal },
      { ...(terminal && shells.includes(command) ? rules : caller.rules), ...context },
    );
    const isEndless = terminal !== undefined;
    const format = encoding === 'base64' ? 'base64' : raw || isEndless ? 'raw' : 'clean';
    return commands.add({ id, commandId: started.id, format, isEndless, context });
  } catch (error) {
    commands.release(caller.owner, id);
    throw error;
  }
}

function sendTo(socket: WebSocket): SendMessage {
  return (message) =>
    new Promise((resolve) => {
      socket.send(JSON.stringify(message), (error) => resolve(error === undefined || error === null));
    });
}

function notFound(id: string): NacreError {
  return new NacreError('job_not_found', `There is no command ${id}.`, {
    hint: 'Start it with shell.run; a command without a socket is ended after a minute.',
  });
}

function isInUse(id: string): NacreError {
  return new NacreError('invalid_request', `A command ${id} is already running.`, {
    hint: 'Choose another id, or resume it with shell.resume.',
  });
}

function beyondEnd(id: string, cursor: number): NacreError {
  return new NacreError('invalid_request', `${id} has not written ${cursor} bytes.`, {
    hint: 'Pass the cursor of the last message that arrived.',
  });
}
