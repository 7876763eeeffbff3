import { isApart } from './shell-script.ts';

/** How the loop says a command ended; `lost` when it could not open the command's outputs and ran nothing. */
export interface ShellDone {
  readonly status: number | 'lost';
  /** Where the shell stands; undefined where something of a trap may stand in between. */
  readonly cwd: string | undefined;
  /** True when it has something in the background, or may have. */
  readonly hasJobs: boolean;
}

/** The state of a shell as bash printed it. */
export interface PrintedState {
  /** True when it has traps: what they print may stand between the parts of a state that was told at once. */
  readonly hasTraps: boolean;
  /** `declare -F`: the names of functions. */
  readonly functionNames: string;
  /** `declare -f`: their definitions. */
  readonly functions: string;
  /** `alias -p`. */
  readonly aliases: string;
  /** `declare -p`: variables, and among them the options. */
  readonly variables: string;
}

/** What is heard of a session. */
export interface ShellListener {
  /** True for the nonce of the order that is to be answered now: whoever says another is not the loop. */
  isAwaited(nonce: string): boolean;
  onDone(done: ShellDone): void;
  onState(state: PrintedState): void;
  onGone(status: number): void;
  /** More was written than any shell says of itself. */
  onNonsense(): void;
}

// Far above what any shell prints of itself; beyond it somebody writes who should not.
const maxBytes = 67_108_864;

/** Takes the bytes of a session's status descriptor, and tells what they say. */
export function createStatusReader(listener: ShellListener, key: string): (bytes: Uint8Array) => boolean {
  const goneWord = new RegExp(`gone ${key} (\\d{1,3})$`);
  let rest: Buffer[] = [];
  let restBytes = 0;
  let done: DoneWord | null = null;
  let words: string[] = [];
  let hasTraps = false;

  const take = (word: string) => {
    if (done !== null) return takePart(done, word);
    const told = toDoneWord(word);
    // What a trap prints may have torn the last state into more parts than it has: nothing of it counts here.
    if (told && listener.isAwaited(told.nonce)) done = told;
    else hasTraps ||= someTrap.test(word);
  };
  const takePart = ({ nonce, status }: DoneWord, word: string) => {
    words.push(word);
    if (words.length === 2) listener.onDone(toDone(status, words, hasTraps && !isApart(nonce)));
    if (words.length < 5) return;
    listener.onState(toState(words, hasTraps));
    reset();
  };
  const reset = () => {
    [done, words, hasTraps] = [null, [], false];
  };
  const forget = (status: number) => {
    reset();
    listener.onGone(status);
  };
  const hear = (word: string) => {
    // It may follow half a word of a shell that died while it spoke; every whole one ends differently.
    const gone = goneWord.exec(word.slice(-longestGone));
    if (gone) forget(Number(gone[1]));
    else take(word);
  };
  const keep = (bytes: Uint8Array) => {
    if (bytes.length === 0) return;
    rest.push(Buffer.from(bytes));
    restBytes += bytes.length;
    if (restBytes <= maxBytes) return;
    [rest, restBytes] = [[], 0];
    listener.onNonsense();
  };

  return (bytes) => {
    let from = 0;
    for (let end = bytes.indexOf(0); end >= 0; end = bytes.indexOf(0, from)) {
      const word = Buffer.concat([...rest, bytes.subarray(from, end)]).toString('utf8');
      [rest, restBytes, from] = [[], 0, end + 1];
      hear(word);
    }
    keep(bytes.subarray(from));
    return true;
  };
}

const longestGone = 64;

interface DoneWord {
  readonly nonce: string;
  readonly status: string;
}

function toDoneWord(word: string): DoneWord | null {
  const [kind, nonce = '', status = ''] = word.split(' ');
  return kind === 'done' ? { nonce, status } : null;
}

// Whoever only ignores a signal prints nothing.
const someTrap = /trap -- (?!'' )/;

function toDone(status: string, [cwd = '', rest = '']: readonly string[], isUnsure: boolean): ShellDone {
  return {
    status: status === 'lost' ? 'lost' : Number(status),
    cwd: isUnsure ? undefined : cwd.replace(/\n$/, ''),
    hasJobs: isUnsure || /^\d/.test(rest),
  };
}

// The numbers of jobs come first, then the names of functions.
const jobNumber = /^\d+\n/gm;

function toState(
  [, rest = '', aliases = '', functions = '', variables = '']: readonly string[],
  hasTraps: boolean,
): PrintedState {
  return { hasTraps, functionNames: rest.replace(jobNumber, ''), aliases, functions, variables };
}
