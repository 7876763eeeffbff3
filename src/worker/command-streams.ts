import { closeSync } from 'node:fs';
import { NacreError } from '../contract/failure.ts';
import type { JobSpec, Stream, TerminalSize } from '../contract/job.ts';
import { Capture } from './io/capture.ts';
import { type CommandInput, PipeInput, TerminalInput, writeAndClose } from './io/command-input.ts';
import {
  findReader,
  type InputFile,
  isSameSleep,
  type Reader,
  toInputFile,
} from './observe/find-blocked-reader.ts';
import type { StartedProcess } from './start/start-process.ts';
import type { Terminal } from './terminal/open-terminal.ts';

/** Receives a command's output, in a buffer that is only valid during the call; returns false to pause reading. */
export type OnOutput = (stream: Stream, bytes: Uint8Array) => boolean;

/** Our ends of a command's stdin, stdout and stderr, or of its terminal, and the order that its shell waits for. */
export class CommandStreams {
  readonly #id: string;
  readonly #pid: number;
  readonly #hooks: StartedProcess['hooks'];
  #captures: readonly Capture[] = [];
  #input: CommandInput | null = null;
  #inputEnded = false;
  #inputFile: InputFile | null = null;
  /** The process that waited for input at the last write; if it is still in the same sleep, it has not read yet. */
  #lastReader: Reader | null = null;
  #terminal: Terminal | null = null;
  #order: { send(): void; drop(): void } | null = null;

  constructor(process: StartedProcess, pid: number, { id, stdin }: JobSpec, onOutput: OnOutput) {
    this.#id = id;
    this.#pid = pid;
    this.#hooks = process.hooks;
    if (process.terminal) this.#openTerminal(process.terminal, process, onOutput);
    else this.#openPipes(process, stdin, onOutput);
  }

  #openPipes(process: StartedProcess, requested: JobSpec['stdin'], onOutput: OnOutput): void {
    const { stdout, stderr, stdin, order, hooks } = process;
    this.#captures = [
      new Capture(stdout, (bytes) => onOutput('stdout', bytes), 'output', hooks),
      new Capture(stderr, (bytes) => onOutput('stderr', bytes), 'output', hooks),
    ];
    if (stdin === null) return;
    if (order !== undefined && requested === 'empty') {
      this.#order = toClosingOrder(stdin, order);
      return;
    }
    const input = new PipeInput(stdin);
    this.#input = input;
    this.#inputFile = toInputFile(stdin);
    if (order === undefined) return;
    const send = () => {
      this.#lastReader = this.#findReader();
      void input.write(Buffer.from(order));
    };
    this.#order = { send, drop() {} };
  }

  #openTerminal(terminal: Terminal, { stdin, order }: StartedProcess, onOutput: OnOutput): void {
    const capture = new Capture(terminal.master, (bytes) => onOutput('stdout', bytes), 'terminal');
    this.#captures = [capture];
    this.#terminal = terminal;
    this.#input = new TerminalInput(terminal.master, () => capture.isOpen());
    this.#inputFile = terminal.file;
    if (stdin === null || order === undefined) return;
    this.#order = toClosingOrder(stdin, order);
  }

  get hasTerminal(): boolean {
    return this.#terminal !== null;
  }

  /** Sends the order that the command's shell waits for. */
  sendOrder(): void {
    this.#order?.send();
  }

  /** Closes the pipe of an order that was never sent. */
  dropOrder(): void {
    this.#order?.drop();
  }

  /** Writes input; resolves when it has been written, or when the command has closed its stdin. */
  async write(data: Uint8Array, eof: boolean): Promise<void> {
    const input = this.#input;
    if (!input || this.#inputEnded) throw inputClosed(this.#id);
    this.#lastReader = this.#findReader();
    if (data.length > 0) await input.write(data);
    if (!eof) return;
    input.end();
    // At a terminal `end` types Ctrl-D, after which a program may still read.
    this.#inputEnded = this.#terminal === null;
  }

  /** Types a key at the terminal. */
  async press(key: number): Promise<void> {
    await this.#input?.write(Buffer.from([key]));
  }

  /** Resizes the terminal. */
  resize(size: TerminalSize): void {
    if (!this.#terminal || !this.#captures[0]?.isOpen()) throw noTerminal(this.#id);
    this.#terminal.resize(size);
  }

  /** True while one of the command's processes sleeps in a read of its stdin or terminal. */
  awaitsInput(): boolean {
    const reader = this.#input?.isFull() === false ? this.#findReader() : null;
    // A prompt that it wrote before it fell asleep is in the pipe now.
    if (reader) this.drain();
    return reader !== null && !isSameSleep(reader, this.#lastReader);
  }

  /** Reads what is in the outputs now, without waiting; returns true when all of them are at EOF. */
  drain(): boolean {
    return this.#captures.map((capture) => capture.drain()).every(Boolean);
  }

  /** Continues reading after `onOutput` has returned false. */
  resume(): void {
    for (const capture of this.#captures) capture.resume();
  }

  /** Resolves when no process has the outputs open any more. */
  ended(): Promise<unknown> {
    return Promise.all(this.#captures.map((capture) => capture.ended));
  }

  /** Reads the rest and closes everything, except outputs in a session: its background processes may still write. */
  finish(isInSession: boolean): void {
    this.drain();
    if (!isInSession) for (const capture of this.#captures) capture.close();
    this.#hooks?.onDrained(this.#captures.every((capture) => !capture.isOpen()));
    this.#terminal?.forget();
    this.#input?.destroy();
  }

  #findReader(): Reader | null {
    return this.#inputFile && findReader(this.#pid, this.#inputFile);
  }
}

// For commands without further input: the pipe is closed after the order.
function toClosingOrder(stdin: number, order: string) {
  return { send: () => writeAndClose(stdin, order), drop: () => closeSync(stdin) };
}

/** Error for writing to a command that cannot get input. */
export function inputClosed(id: string): NacreError {
  return new NacreError(
    'invalid_request',
    `${id} takes no input: it has ended, its input has been ended, or it was started without one.`,
    { hint: 'Start it again with an open stdin or a terminal.' },
  );
}

/** Error for resizing a command without a terminal. */
export function noTerminal(id: string): NacreError {
  return new NacreError(
    'invalid_request',
    `${id} has no terminal: only a running command that was started with pty has a size.`,
    { hint: 'Start it again with pty.' },
  );
}
