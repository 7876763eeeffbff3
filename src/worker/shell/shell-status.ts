import { withoutAbortTrap } from './abort-script.ts';
import { isApart } from './shell-script.ts';

/** The loop's reply to a request; status `lost` means that it could not open the outputs and ran nothing. */
export interface CommandDone {
  readonly status: number | 'lost';
  /** The shell's directory; `undefined` if the output of a trap may be mixed into it. */
  readonly cwd: string | undefined;
  /** True when `jobs -rp` listed background jobs, or may have. */
  readonly hasJobs: boolean;
}

/** The state of a shell as bash printed it. */
export interface PrintedState {
  /** True when the shell has traps, whose output may be mixed into a state printed in `grouped` mode. */
  readonly hasTraps: boolean;
  /** `declare -F`: the names of functions. */
  readonly functionNames: string;
  /** `declare -f`: their definitions. */
  readonly functions: string;
  /** `alias -p`. */
  readonly aliases: string;
  /** `declare -p`: variables, among them the options. */
  readonly variables: string;
}

/** Receives the messages that a `StatusReader` parses. */
export interface StatusListener {
  /** True for the nonce of the pending request; a message with another nonce is not from the loop. */
  isAwaited(nonce: string): boolean;
  onDone(done: CommandDone): void;
  onState(state: PrintedState): void;
  onShellExit(status: number): void;
  /** More than `maxBytes` arrived without a NUL. */
  onOverflow(): void;
}

/** Options of a `StatusReader`: the key in its host's messages, and how much it buffers. */
export interface StatusReaderOptions {
  readonly key: string;
  readonly maxBytes: number;
}

/** Parses what a session's host and shell write to descriptor 9: NUL-terminated messages. */
export class StatusReader {
  readonly #listener: StatusListener;
  readonly #exitMessage: RegExp;
  readonly #maxBytes: number;
  /** The start of a message whose NUL has not arrived yet. */
  #partial: Buffer[] = [];
  #partialBytes = 0;
  #done: DoneMessage | null = null;
  /** The parts of the state that followed `#done` so far. */
  #parts: string[] = [];
  #hasTraps = false;

  constructor(listener: StatusListener, { key, maxBytes }: StatusReaderOptions) {
    this.#listener = listener;
    this.#exitMessage = new RegExp(`gone ${key} (\\d{1,3})$`);
    this.#maxBytes = maxBytes;
  }

  push(bytes: Uint8Array): void {
    let from = 0;
    for (let end = bytes.indexOf(0); end >= 0; end = bytes.indexOf(0, from)) {
      const message = Buffer.concat([...this.#partial, bytes.subarray(from, end)]).toString('utf8');
      [this.#partial, this.#partialBytes, from] = [[], 0, end + 1];
      this.#receive(message);
    }
    this.#buffer(bytes.subarray(from));
  }

  #buffer(bytes: Uint8Array): void {
    if (bytes.length === 0) return;
    this.#partial.push(Buffer.from(bytes));
    this.#partialBytes += bytes.length;
    if (this.#partialBytes <= this.#maxBytes) return;
    [this.#partial, this.#partialBytes] = [[], 0];
    this.#listener.onOverflow();
  }

  #receive(message: string): void {
    // `gone` may follow a message that the shell had half written when it died, so only the end is matched.
    const exited = this.#exitMessage.exec(message.slice(-longestExitMessage));
    if (exited) this.#onExit(Number(exited[1]));
    else if (this.#done === null) this.#awaitDone(message);
    else this.#addPart(this.#done, message);
  }

  #onExit(status: number): void {
    this.#reset();
    this.#listener.onShellExit(status);
  }

  // Output of a trap may have split the previous state into too many parts: skip everything up to the awaited `done`.
  #awaitDone(message: string): void {
    const done = parseDone(message);
    if (done && this.#listener.isAwaited(done.nonce)) this.#done = done;
    else this.#hasTraps ||= trapWithCommand.test(withoutAbortTrap(message));
  }

  #addPart({ nonce, status }: DoneMessage, part: string): void {
    this.#parts.push(part);
    if (this.#parts.length === 2)
      this.#listener.onDone(toDone(status, this.#parts, this.#hasTraps && !isApart(nonce)));
    if (this.#parts.length < 5) return;
    const state = toPrintedState(this.#parts, this.#hasTraps);
    this.#reset();
    this.#listener.onState(state);
  }

  #reset(): void {
    [this.#done, this.#parts, this.#hasTraps] = [null, [], false];
  }
}

const longestExitMessage = 64;

interface DoneMessage {
  readonly nonce: string;
  readonly status: string;
}

function parseDone(message: string): DoneMessage | null {
  const [kind, nonce = '', status = ''] = message.split(' ');
  return kind === 'done' ? { nonce, status } : null;
}

// `trap -- '' INT` only ignores a signal and prints nothing.
const trapWithCommand = /trap -- (?!'' )/;

function toDone(status: string, [cwd = '', rest = '']: readonly string[], isMixed: boolean): CommandDone {
  return {
    status: status === 'lost' ? 'lost' : Number(status),
    cwd: isMixed ? undefined : cwd.replace(/\n$/, ''),
    hasJobs: isMixed || /^\d/.test(rest),
  };
}

// `jobs -rp` prints pids before the `declare -F` lines of the same part.
const jobLine = /^\d+\n/gm;

function toPrintedState(
  [, rest = '', aliases = '', functions = '', variables = '']: readonly string[],
  hasTraps: boolean,
): PrintedState {
  return { hasTraps, functionNames: rest.replace(jobLine, ''), aliases, functions, variables };
}
