import { type ChildProcess, spawn } from 'node:child_process';
import { Socket } from 'node:net';
import { createDeferred, type Deferred, settlesWithin } from '../../support/timing.ts';
import { withoutInherited } from '../io/inherited-descriptors.ts';
import type { Environment } from '../machine/environment.ts';
import { plainNode } from '../network/bridge.ts';
import { continueWhileStopped } from '../processes/continue-helpers.ts';
import type { RoomNetwork } from './room-network.ts';

/**
 * Runs in the network namespace of a room: connects to a port when asked to, and sends the connected socket to nacre. A server
 * on `localhost` may listen on ::1 only. `pause` leaves bytes that the server sends first to nacre.
 */
const connectAndSend = [
  "const { connect } = require('node:net');",
  'const tryNext = ({ id, port }, [host, ...others], reason) => {',
  '  if (host === undefined) return process.send({ id, reason });',
  '  const socket = connect({ host, port }).pause();',
  '  const fail = (error) => tryNext({ id, port }, others, error.code);',
  "  socket.once('error', fail).once('connect', () => {",
  "    socket.off('error', fail).on('error', () => {});",
  '    process.send({ id }, socket);',
  '  });',
  '};',
  "process.on('message', (request) => tryNext(request, ['127.0.0.1', '::1']));",
  "process.once('disconnect', () => process.exit(0));",
].join('\n');

const exitMs = 2_000;
// A connection to a loopback port is accepted or refused at once.
const connectMs = 10_000;

/** A process in a room that makes connections there for nacre. */
export class RoomConnector {
  readonly #child: ChildProcess;
  readonly #pending = new Map<number, Deferred<Socket>>();
  readonly #exited: Promise<void>;
  #requests = 0;

  constructor({ enter }: Pick<RoomNetwork, 'enter'>, env: Environment) {
    const [program = '', ...args] = [...enter, process.execPath, '-e', connectAndSend];
    const stdio = withoutInherited(['ignore', 'ignore', 'ignore', 'ipc']);
    this.#child = spawn(program, args, { cwd: '/', env: { ...env, ...plainNode }, detached: true, stdio });
    // The channel alone must not keep this process alive.
    this.#child.channel?.unref();
    this.#child.unref();
    this.#child.on('message', (message, handle) => this.#onMessage(message, handle));
    const { pid } = this.#child;
    const stopContinuing = pid === undefined ? () => {} : continueWhileStopped(pid);
    this.#exited = new Promise((resolve) => {
      for (const event of ['exit', 'error'])
        this.#child.once(event, () => {
          stopContinuing();
          for (const one of this.#pending.values()) one.reject(new Error('the connector has ended'));
          this.#pending.clear();
          resolve();
        });
    });
  }

  /** False once it has ended or was killed. */
  get isAlive(): boolean {
    return this.#child.connected && !this.#child.killed;
  }

  /** Connects to a port of the room's loopback; rejects if no process listens there. */
  connect(port: number): Promise<Socket> {
    const id = this.#requests++;
    const connected = createDeferred<Socket>();
    if (!this.isAlive) return Promise.reject(new Error('the connector has ended'));
    this.#pending.set(id, connected);
    this.#child.send({ id, port }, (error) => {
      if (error) connected.reject(error);
    });
    const isLate = setTimeout(() => {
      // Another connector replaces it at the next connection.
      this.#child.kill('SIGKILL');
      connected.reject(new Error('the connector does not answer'));
    }, connectMs);
    const settle = () => {
      clearTimeout(isLate);
      this.#pending.delete(id);
    };
    connected.promise.then(settle, settle);
    return connected.promise;
  }

  async close(): Promise<void> {
    if (this.isAlive) this.#child.disconnect();
    if (await settlesWithin(this.#exited, exitMs)) return;
    this.#child.kill('SIGKILL');
    await settlesWithin(this.#exited, exitMs);
  }

  #onMessage(message: unknown, handle: unknown): void {
    const { id, reason } = message as { readonly id: number; readonly reason?: string };
    const pending = this.#pending.get(id);
    this.#pending.delete(id);
    if (handle instanceof Socket) pending?.resolve(handle);
    else pending?.reject(new Error(reason ?? 'the connection was lost'));
  }
}
