// One WebSocket:
// 1. a message is checked like every other input, 2. `shell.run` starts a command and pump.ts tells its output,
// 3. the others write to it, signal it, resize it, or take it up again where a lost connection left off,
// 4. when the socket closes its commands are kept for a while (kept-commands.ts).
import type { WebSocket } from 'ws';
import { NacreError } from '../../../contract/failure.ts';
import type { Engine } from '../../../engine/engine.ts';
import { createId } from '../../../support/create-id.ts';
import type { HttpCaller } from '../callers.ts';
import type { History } from '../history.ts';
import { toFailure } from '../problem.ts';
import { dispatch, type Refusal } from './dispatch.ts';
import type { KeptCommand, KeptCommands } from './kept-commands.ts';
import type { ClientMessage, ClientType, ServerMessage } from './messages.ts';
import { type Outlet, pump } from './pump.ts';

/** What every socket needs. */
export interface SocketParts {
  readonly engine: () => Promise<Engine>;
  /** Takes in what has changed in the settings, before a command is judged by them. */
  readonly refresh: () => Promise<void>;
  readonly kept: KeptCommands;
  readonly history: History;
  /** The rules for a command at a terminal; undefined where its usual ones hold. */
  readonly terminalRules: (program: string, caller: HttpCaller) => HttpCaller['rules'] | undefined;
  readonly isClosing: () => boolean;
  readonly log: (message: string) => void;
}

/** Serves one socket of a caller until it closes. */
export function serveSocket(parts: SocketParts, socket: WebSocket, caller: HttpCaller): void {
  const own = new Set<KeptCommand>();
  const send = outletOf(socket);
  const asker = { caller: { door: 'http', client: caller.client }, owner: caller.owner } as const;

  const starting = new Map<string, Promise<KeptCommand>>();

  const tell = async (command: KeptCommand, from: number) => {
    // A socket that closed while its command was started does not say so again.
    if (socket.readyState !== socket.OPEN) return parts.kept.lose(command);
    parts.kept.hold(command);
    command.attached?.abort();
    const attached = new AbortController();
    command.attached = attached;
    own.add(command);
    const isTold = await pump(await parts.engine(), command, from, { send, signal: attached.signal });
    if (command.attached !== attached) return;
    own.delete(command);
    command.ended ||= isTold;
    parts.kept.lose(command);
  };
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
      await parts.refresh();
      const rules = (terminal && parts.terminalRules(command, caller)) ?? caller.rules;
      const engine = await parts.engine();
      const started = await engine.start(
        { command: { kind: 'argv', argv: [command, ...args] }, ...request },
        { ...rules, ...asker },
      );
      const done = parts.history.begin(caller, [command, ...args].join(' '));
      return parts.kept.add({ id, commandId: started.id, encoding, asker, done });
    } catch (error) {
      parts.kept.release(caller.owner, id);
      throw error;
    }
  };
  const handlers: { readonly [Type in ClientType]: (message: ClientMessage<Type>) => Promise<void> } = {
    async 'shell.run'(message) {
      const id = message.id ?? createId('cmd');
      if (parts.isClosing())
        throw new NacreError('shutting_down', 'The server is ending; nothing new is started.');
      if (!parts.kept.reserve(caller.owner, id)) throw isTaken(id);
      const begun = begin(id, message);
      starting.set(id, begun);
      const kept = await begun.finally(() => starting.delete(id));
      await send({ type: 'shell.start', id, command_id: kept.commandId, cursor: 0 });
      await tell(kept, 0);
    },
    'shell.stdin': ({ id, data, eof }) => write(id, { text: data, eof }),
    async 'shell.signal'({ id, signal }) {
      if (signal === 'SIGINT') return write(id, { keys: ['ctrl-c'] });
      await (await parts.engine()).stop((await find(id)).commandId, { signal, graceMs: graceMs }, asker);
    },
    'shell.resize': ({ id, cols, rows }) => write(id, { resize: { cols, rows } }),
    async 'shell.resume'({ id, cursor }) {
      const command = await find(id);
      const { state } = await (await parts.engine()).look(command.commandId, asker);
      if (cursor > state.stdoutBytes + state.stderrBytes) throw beyondEnd(id, cursor);
      await send({ type: 'shell.start', id, command_id: command.commandId, cursor });
      await tell(command, cursor);
    },
  };

  socket.on('message', (data, isBinary) => {
    void dispatch(handlers, data, isBinary).catch(({ id, cause }: Refusal) => {
      const { error, reason, hint } = {
        reason: undefined,
        hint: undefined,
        ...toFailure(cause, parts.log).body,
      };
      void send({ type: 'shell.error', id, error, reason, hint });
    });
  });
  socket.on('close', () => {
    for (const command of own) {
      command.attached?.abort();
      command.attached = undefined;
      parts.kept.lose(command);
    }
  });
}

const graceMs = 2_000;

function outletOf(socket: WebSocket): Outlet {
  return (message: ServerMessage) =>
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
