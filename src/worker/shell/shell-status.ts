/** How the loop says a command ended; `lost` when it could not open the command's outputs and ran nothing. */
export interface ShellDone {
  readonly status: number | 'lost';
  /** Where the shell stands. */
  readonly cwd: string;
  /** True when it has something in the background. */
  readonly hasJobs: boolean;
}

/** The state of a shell as bash printed it. */
export interface PrintedState {
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
  onDone(nonce: string, done: ShellDone): void;
  onState(state: PrintedState): void;
  onGone(status: number): void;
}

// Far above what any shell prints of itself; beyond it somebody writes who should not.
const maxBytes = 67_108_864;

/** Turns the bytes of a session's status descriptor into what they say; false when they make no sense. */
export function createStatusReader(listener: ShellListener): (bytes: Uint8Array) => boolean {
  let rest: Buffer = Buffer.alloc(0);
  let done: readonly [nonce: string, status: string] | null = null;
  let words: string[] = [];

  const take = (word: string) => {
    if (done === null) return begin(word);
    words.push(word);
    if (words.length === 2) listener.onDone(done[0], toDone(done[1], words));
    if (words.length < 5) return;
    listener.onState(toState(words));
    [done, words] = [null, []];
  };
  const begin = (word: string) => {
    const [kind, nonce = '', status = ''] = word.split(' ');
    if (kind === 'done') done = [nonce, status];
  };
  const forget = (status: number) => {
    [done, words] = [null, []];
    listener.onGone(status);
  };

  return (bytes) => {
    rest = Buffer.concat([rest, bytes]);
    for (let end = rest.indexOf(0); end >= 0; end = rest.indexOf(0)) {
      const word = rest.toString('utf8', 0, end);
      rest = rest.subarray(end + 1);
      // It may follow half a word of a shell that died while it spoke; every whole one ends differently.
      const gone = /gone (\d{1,3})$/.exec(word);
      if (gone) forget(Number(gone[1]));
      else take(word);
    }
    return rest.length <= maxBytes;
  };
}

function toDone(status: string, [cwd = '', rest = '']: readonly string[]): ShellDone {
  return {
    status: status === 'lost' ? 'lost' : Number(status),
    cwd: cwd.replace(/\n$/, ''),
    hasJobs: /^\d/.test(rest),
  };
}

// The numbers of jobs come first, then the names of functions.
const jobNumber = /^\d+\n/gm;

function toState([
  ,
  rest = '',
  aliases = '',
  functions = '',
  variables = '',
]: readonly string[]): PrintedState {
  return { functionNames: rest.replace(jobNumber, ''), aliases, functions, variables };
}
