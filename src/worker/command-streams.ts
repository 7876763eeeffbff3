import { closeSync } from 'node:fs';
import { NacreError } from '../contract/failure.ts';
import type { JobSpec, Stream, TerminalSize } from '../contract/job.ts';
import { Capture } from './io/capture.ts';
import { type CommandInput, PipeInput, TerminalInput, writeAndClose } from './io/command-input.ts';
import {
  type BlockedReader,
  findBlockedReader,
  type InputFile,
  isSameBlock,
  nameOf,
  toInputFile,
} from './observe/find-blocked-reader.ts';
import type { StartedProcess } from './start/start-process.ts';
import type { Terminal } from './terminal/open-terminal.ts';

/** Receives a command's output; `bytes` is only valid during the call. Returns false to pause reading. */
export type OnOutput = (stream: Stream, bytes: Uint8Array) => boolean;

/** Our ends of a command's `stdin`, `stdout` and `stderr`, or its terminal, and the launch message for its shell. */
export class CommandStreams {
  readonly #id: string;
  readonly #pid: number;
  readonly #hooks: StartedProcess['hooks'];
  #captures: readonly Capture[] = [];
  #input: CommandInput | null = null;
  #inputEnded = false;
  #inputFile: InputFile | null = null;
  /**
   * The thread that was blocked in `read` at the last write. Until it runs, it has not read that input (`isSameBlock`).
   */
  #lastReader: BlockedReader | null = null;
  #terminal: Terminal | null = null;
  #launch: { send(): void; drop(): void } | null = null;

  constructor(process: StartedProcess, pid: number, { id, stdin }: JobSpec, onOutput: OnOutput) {
    this.#id = id;
    this.#pid = pid;
    this.#hooks = process.hooks;
    if (process.terminal) this.#openTerminal(process.terminal, process, onOutput);
    else this.#openPipes(process, stdin, onOutput);
  }

  #openPipes(process: StartedProcess, requested: JobSpec['stdin'], onOutput: OnOutput): void {
    const { stdout, stderr, stdin, launchMessage, hooks } = process;
    this.#captures = [
      new Capture(stdout, (bytes) => onOutput('stdout', bytes), 'output', hooks),
      new Capture(stderr, (bytes) => onOutput('stderr', bytes), 'output', hooks),
    ];
    if (stdin === null) return;
    if (launchMessage !== undefined && requested === 'empty') {
      this.#launch = toClosingLaunch(stdin, launchMessage);
      return;
    }
    const input = new PipeInput(stdin);
    this.#input = input;
    this.#inputFile = toInputFile(stdin);
    if (launchMessage === undefined) return;
    const send = () => {
      this.#lastReader = this.#findReader();
      void input.write(Buffer.from(launchMessage));
    };
    this.#launch = { send, drop() {} };
  }

  #openTerminal(terminal: Terminal, { stdin, launchMessage }: StartedProcess, onOutput: OnOutput): void {
    const capture = new Capture(terminal.master, (bytes) => onOutput('stdout', bytes), 'terminal');
    this.#captures = [capture];
    this.#terminal = terminal;
    this.#input = new TerminalInput(terminal.master, () => capture.isOpen());
    this.#inputFile = terminal.file;
    if (stdin === null || launchMessage === undefined) return;
    this.#launch = toClosingLaunch(stdin, launchMessage);
  }

  get hasTerminal(): boolean {
    return this.#terminal !== null;
  }

  sendLaunchMessage(): void {
    this.#launch?.send();
  }

  /** Closes the pipe for a launch message that was never sent. */
  dropLaunchMessage(): void {
    this.#launch?.drop();
  }

  /** Writes input; resolves when it has been written, or when the command has closed its `stdin`. */
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

  async press(key: number): Promise<void> {
    await this.#input?.write(Buffer.from([key]));
  }

  resize(size: TerminalSize): void {
    if (!this.#terminal || !this.#captures[0]?.isOpen()) throw noTerminal(this.#id);
    this.#terminal.resize(size);
  }

  /** True while one of the command's processes is blocked reading its `stdin` or terminal. */
  awaitsInput(): boolean {
    const reader = this.#input?.isFull() === false ? this.#findReader() : null;
    // A prompt that the process wrote before that `read` is in the pipe by now.
    if (reader) this.drain();
    return reader !== null && !reader.isStopped && !isSameBlock(reader, this.#lastReader);
  }

  /** The name of the process that is blocked reading the input; undefined if there is none. */
  readerName(): string | undefined {
    const reader = this.#findReader();
    return reader ? nameOf(reader) : undefined;
  }

  /** Reads what is in the outputs now, without waiting; returns true when all of them are at EOF. */
  drain(): boolean {
    return this.#captures.map((capture) => capture.drain()).every(Boolean);
  }

  /** Continues reading after `onOutput` has returned false. */
  resume(): void {
    for (const capture of this.#captures) capture.resume();
  }

  /** Resolves at EOF of all outputs, when no process has them open any more. */
  ended(): Promise<unknown> {
    return Promise.all(this.#captures.map((capture) => capture.ended));
  }

  /** Reads the rest and closes everything, except outputs in a session: its background processes may still write. */
  finish(isInSession: boolean): void {
    this.drain();
    if (!isInSession) for (const capture of this.#captures) capture.close();
    this.#hooks?.onDrained(this.#captures.every((capture) => !capture.isOpen()));
    this.#terminal?.release();
    this.#input?.destroy();
  }

  #findReader(): BlockedReader | null {
    return this.#inputFile && findBlockedReader(this.#pid, this.#inputFile);
  }
}

// With `stdin: 'empty'`, and at a terminal, the pipe is closed after the launch message.
function toClosingLaunch(stdin: number, launchMessage: string) {
  return { send: () => writeAndClose(stdin, launchMessage), drop: () => closeSync(stdin) };
}

/** Error for `write` to a command whose `stdin` is closed. */
export function inputClosed(id: string): NacreError {
  return new NacreError(
    'invalid_request',
    `${id} accepts no input: it has ended, its stdin is closed, or it was started without one.`,
    { hint: 'Start it again with an open stdin or a terminal.' },
  );
}

/** Error for `resize` of a command without a terminal. */
export function noTerminal(id: string): NacreError {
  return new NacreError(
    'invalid_request',
    `${id} has no terminal: only a running command that was started with pty has a size.`,
    { hint: 'Start it again with pty.' },
  );
}
