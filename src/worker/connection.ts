import { closeSync } from 'node:fs';
import { NacreError } from '../contract/failure.ts';
import type { JobSpec, Stream, TerminalSize } from '../contract/job.ts';
import { type Capture, captureStream } from './io/capture.ts';
import { type CommandInput, createPipeInput, createTerminalInput, writeWhole } from './io/command-input.ts';
import { findReader, type InputFile, isSameSleep, type Reader, toInputFile } from './look/find-reader.ts';
import type { StartedProcess } from './start/start-process.ts';
import type { Terminal } from './terminal/open-terminal.ts';

/** Takes what a command writes, in a buffer that is only valid during the call; false pauses the reading. */
export type TakeOutput = (stream: Stream, bytes: Uint8Array) => boolean;

/** Our ends of a command's input and outputs, be they pipes or a terminal, and of the order that it may wait for. */
export class Connection {
  readonly #id: string;
  readonly #pid: number;
  readonly #care: StartedProcess['care'];
  #captures: readonly Capture[] = [];
  #input: CommandInput | null = null;
  #inputEnded = false;
  #inputFile: InputFile | null = null;
  /** Who waited for input when the last of it was written: still the same sleep means that it was not taken yet. */
  #lastReader: Reader | null = null;
  #terminal: Terminal | null = null;
  /** What the process waits for. */
  #order: { give(): void; drop(): void } | null = null;

  constructor(process: StartedProcess, pid: number, { id, stdin }: JobSpec, take: TakeOutput) {
    this.#id = id;
    this.#pid = pid;
    this.#care = process.care;
    if (process.terminal) this.#openTerminal(process.terminal, process, take);
    else this.#openPipes(process, stdin, take);
  }

  #openPipes(process: StartedProcess, given: JobSpec['stdin'], take: TakeOutput): void {
    const { stdout, stderr, stdin, order, care } = process;
    this.#captures = [
      captureStream(stdout, (bytes) => take('stdout', bytes), 'output', care),
      captureStream(stderr, (bytes) => take('stderr', bytes), 'output', care),
    ];
    if (stdin === null) return;
    if (order !== undefined && given === 'empty') {
      this.#order = toWholeOrder(stdin, order);
      return;
    }
    const input = createPipeInput(stdin);
    this.#input = input;
    this.#inputFile = toInputFile(stdin);
    if (order === undefined) return;
    const give = () => {
      this.#lastReader = this.#findReader();
      void input.write(Buffer.from(order));
    };
    this.#order = { give, drop() {} };
  }

  #openTerminal(terminal: Terminal, { stdin, order }: StartedProcess, take: TakeOutput): void {
    const capture = captureStream(terminal.master, (bytes) => take('stdout', bytes), 'terminal');
    this.#captures = [capture];
    this.#terminal = terminal;
    this.#input = createTerminalInput(terminal.master, capture.isOpen);
    this.#inputFile = terminal.file;
    if (stdin === null || order === undefined) return;
    this.#order = toWholeOrder(stdin, order);
  }

  /** Whether they are our side of a terminal. */
  get hasTerminal(): boolean {
    return this.#terminal !== null;
  }

  /** Gives the process the order that it waits for. */
  giveOrder(): void {
    this.#order?.give();
  }

  /** Lets go of an order that was never given. */
  dropOrder(): void {
    this.#order?.drop();
  }

  /** Writes input; resolves when the command has taken it or does not want it any more. */
  async write(data: Uint8Array, eof: boolean): Promise<void> {
    const input = this.#input;
    if (!input || this.#inputEnded) throw noInput(this.#id);
    this.#lastReader = this.#findReader();
    if (data.length > 0) await input.write(data);
    if (!eof) return;
    input.end();
    // At a terminal it is a key that a program may take for anything.
    this.#inputEnded = this.#terminal === null;
  }

  /** Types a key at the terminal. */
  async press(key: number): Promise<void> {
    await this.#input?.write(Buffer.from([key]));
  }

  /** Changes the size of the terminal. */
  resize(size: TerminalSize): void {
    if (!this.#terminal || !this.#captures[0]?.isOpen()) throw noTerminal(this.#id);
    this.#terminal.resize(size);
  }

  /** True while one of the command's processes sleeps until there is input from us. */
  awaitsInput(): boolean {
    const reader = this.#input?.isFull() === false ? this.#findReader() : null;
    // What it wrote before it fell asleep is in the pipes at the latest now.
    if (reader) this.drain();
    return reader !== null && !isSameSleep(reader, this.#lastReader);
  }

  /** Takes what is in the outputs now, without waiting; true when nobody holds their other ends any more. */
  drain(): boolean {
    return this.#captures.map((capture) => capture.drain()).every(Boolean);
  }

  /** Goes on reading after a pause. */
  resume(): void {
    for (const capture of this.#captures) capture.resume();
  }

  /** Resolves when nobody holds the other ends of the outputs any more. */
  ended(): Promise<unknown> {
    return Promise.all(this.#captures.map((capture) => capture.ended));
  }

  /** Takes the rest and lets go of everything; what goes on in a session may still write, so that its outputs stay open. */
  finish(isInSession: boolean): void {
    this.drain();
    if (!isInSession) for (const capture of this.#captures) capture.close();
    this.#care?.onRead(this.#captures.every((capture) => !capture.isOpen()));
    this.#terminal?.forget();
    this.#input?.destroy();
  }

  #findReader(): Reader | null {
    return this.#inputFile && findReader(this.#pid, this.#inputFile);
  }
}

function toWholeOrder(stdin: number, order: string) {
  return { give: () => writeWhole(stdin, order), drop: () => closeSync(stdin) };
}

/** Input that nobody can take. */
export function noInput(id: string): NacreError {
  return new NacreError(
    'invalid_request',
    `${id} takes no input: it has ended, its input has been ended, or it was started without one.`,
    {
      hint: 'Start it anew with an open stdin or a terminal.',
    },
  );
}

/** A size of what has none. */
export function noTerminal(id: string): NacreError {
  return new NacreError(
    'invalid_request',
    `${id} has no terminal: only a running command that was started with pty has a size.`,
    {
      hint: 'Start it anew with pty.',
    },
  );
}
