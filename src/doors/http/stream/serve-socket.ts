// One WebSocket:
// 1. a message is checked like every other input, 2. `shell.run` starts a command and tell-commands.ts tells its output,
// 3. the others write to it, signal it, resize it, or take it up again where a lost connection left off,
// 4. when the socket closes its commands are kept for a while (kept-commands.ts).
import type { WebSocket } from 'ws';
import { NacreError, shuttingDown } from '../../../contract/failure.ts';
import type { Engine } from '../../../engine/engine.ts';
import { createId } from '../../../support/create-id.ts';
import type { HttpCaller } from '../callers.ts';
import { charge } from '../charge.ts';
import type { History } from '../history.ts';
import { toFailure } from '../problem.ts';
import { dispatch, type Handlers, type Refusal } from './dispatch.ts';
import { createIntake } from './intake.ts';
import type { KeptCommand, KeptCommands } from './kept-commands.ts';
import type { ClientMessage, ClientType } from './messages.ts';
import type { Outlet } from './pump.ts';
import { createTellCommands } from './tell-commands.ts';

/** What every socket needs. */
export interface SocketParts {
  readonly engine: () => Promise<Engine>;
  /** Takes in what has changed in the settings, before a command is judged by them. */
  readonly refresh: () => Promise<void>;
  readonly kept: KeptCommands;
  readonly history: History;
  readonly isClosing: () => boolean;
  readonly log: (message: string) => void;
}

/** Serves one socket of a caller until it closes. */
export function serveSocket(parts: SocketParts, socket: WebSocket, caller: HttpCaller): void {
  const send = outletOf(socket);
  const intake = createIntake(socket);
  const { tell, close } = createTellCommands(parts, socket, send);
  const refuse = ({ id, cause }: Refusal) => {
    const { body } = toFailure(cause, parts.log);
    return send({ type: 'shell.error', id, ...body });
  };
  // Goes on for as long as the command does.
  const follow = (command: KeptCommand, from: number) =>
    void tell(command, from).catch((cause) => refuse({ id: command.id, cause }));
  const handlers = createHandlers(parts, caller, follow);
  socket.on('message', (data, isBinary) => {
    const { length } = data as Buffer;
    intake.hold(length, dispatch(handlers, data, isBinary).catch(refuse));
  });
  socket.on('close', close);
}

function createHandlers(
  parts: SocketParts,
  caller: HttpCaller,
  follow: (command: KeptCommand, from: number) => void,
): Handlers {
  const asker = { caller: { door: 'http', client: caller.client }, owner: caller.owner } as const;
  const starting = new Map<string, Promise<KeptCommand>>();

  // What comes right behind shell.run waits until there is a command.
  const find = async (id: string): Promise<KeptCommand> => {
    await starting.get(id)?.catch(() => {});
    const found = parts.kept.find(caller.owner, id);
    if (!found) throw notFound(id);
    return found;
  };
  const write = async (
    id: string,
    input: { text?: string; keys?: string[]; eof?: boolean; resize?: { cols: number; rows: number } },
  ) => {
    const engine = await parts.engine();
    const { commandId } = await find(id);
    await engine.write(commandId, { text: '', eof: false, secret: false, ...input }, asker);
  };
  const begin = async (id: string, message: ClientMessage<'shell.run'>): Promise<KeptCommand> => {
    const { command, args, cwd, env, stdin, timeout_ms, pty: terminal, encoding } = message;
    const request = { cwd, env, stdin, timeoutMs: timeout_ms ?? null, terminal };
    try {
      charge(caller, 'commands');
      await parts.refresh();
      const { shells, rules } = caller.terminal;
      const engine = await parts.engine();
      const started = await engine.start(
        { command: { kind: 'argv', argv: [command, ...args] }, ...request },
        { ...(terminal && shells.includes(command) ? rules : caller.rules), ...asker },
      );
      const done = parts.history.begin(caller, [command, ...args].join(' '));
      const isEndless = terminal !== undefined;
      return parts.kept.add({ id, commandId: started.id, encoding, isEndless, asker, done });
    } catch (error) {
      parts.kept.release(caller.owner, id);
      throw error;
    }
  };
  const handlers: { readonly [Type in ClientType]: (message: ClientMessage<Type>) => Promise<void> } = {
    async 'shell.run'(message) {
      const id = message.id ?? createId('cmd');
      if (parts.isClosing()) throw shuttingDown();
      if (!parts.kept.reserve(caller.owner, id)) throw isTaken(id);
      const begun = begin(id, message);
      starting.set(id, begun);
      follow(await begun.finally(() => starting.delete(id)), 0);
    },
    'shell.stdin': ({ id, data, eof }) => write(id, { text: data, eof }),
    async 'shell.signal'({ id, signal }) {
      if (signal === 'SIGINT') return write(id, { keys: ['ctrl-c'] });
      await (await parts.engine()).stop((await find(id)).commandId, { signal, graceMs }, asker);
    },
    'shell.resize': ({ id, cols, rows }) => write(id, { resize: { cols, rows } }),
    async 'shell.resume'({ id, cursor }) {
      const command = await find(id);
      const { state } = await (await parts.engine()).look(command.commandId, asker);
      if (cursor > state.stdoutBytes + state.stderrBytes) throw beyondEnd(id, cursor);
      follow(command, cursor);
    },
  };
  return handlers;
}

const graceMs = 2_000;

function outletOf(socket: WebSocket): Outlet {
  return (message) =>
    new Promise((resolve) => {
      socket.send(JSON.stringify(message), (error) => resolve(error === undefined || error === null));
    });
}

function notFound(id: string): NacreError {
  return new NacreError('job_not_found', `There is no command ${id}.`, {
    hint: 'Start it with shell.run; what nobody listens to is ended after a minute.',
  });
}

function isTaken(id: string): NacreError {
  return new NacreError('invalid_request', `A command ${id} is running already.`, {
    hint: 'Choose another id, or take it up with shell.resume.',
  });
}

function beyondEnd(id: string, cursor: number): NacreError {
  return new NacreError('invalid_request', `${id} has not written ${cursor} bytes.`, {
    hint: 'Give the cursor of the last message that arrived.',
  });
}
