import { type ChildProcess, spawn } from 'node:child_process';
import { basename, dirname } from 'node:path';
import { quote } from '../../support/quote.ts';
import { createDeferred, type Deferred } from '../../support/timing.ts';
import { withoutInherited } from '../io/inherited-descriptors.ts';
import type { Environment } from '../machine/environment.ts';

/** The descriptor, in addition to 0 to 4, by which the init process keeps the status pipe open (`bwrap --sync-fd`). */
export const heldFd = 5;

/** The dependencies of `ForkServer`. */
export interface ForkServerDeps {
  readonly bashPath: string;
  /** The command line that enters the network namespace of a room, if the fork server belongs to one. */
  readonly enter?: readonly string[] | undefined;
  /** The reading end of the `Lifeline`. */
  lifeline(): Promise<number>;
  /** The environment of the fork server and of everything that it starts. */
  readonly env: Environment;
}

/** Names of four FIFOs in one folder; the caller has their other ends open (`openEnds`). */
export interface ForkServerFifos {
  readonly stdin: string;
  readonly stdout: string;
  readonly stderr: string;
  readonly status: string;
}

/**
 * A small bash that starts processes for Node. fork() copies the page tables of all of Node's memory, which blocks
 * the event loop for milliseconds; a bash with almost no memory forks in a tenth of the time. It is started at the first
 * use, and again if it has ended.
 */
export class ForkServer {
  readonly #deps: ForkServerDeps;
  #shell: ForkServerShell | null = null;
  #isClosed = false;

  constructor(deps: ForkServerDeps) {
    this.#deps = deps;
  }

  /** Starts a program with four FIFOs as descriptors 0 to 3 and the lifeline as 4; returns its pid. */
  async start(argv: readonly string[], fifos: ForkServerFifos): Promise<number> {
    if (this.#isClosed) throw new Error('the fork server is closed');
    const lifeline = await this.#deps.lifeline();
    if (!this.#shell?.lives()) this.#shell = new ForkServerShell(this.#deps, lifeline);
    return this.#shell.start(argv.map(quote).join(' '), toRequest(fifos));
  }

  /** Ends the shell by EOF on its `stdin`; supervisors that it started and that still run die with it. */
  async close(): Promise<void> {
    this.#isClosed = true;
    await this.#shell?.close();
  }
}

class ForkServerShell {
  readonly #child: ChildProcess;
  readonly #pending: Deferred<number>[] = [];
  readonly #gone: Promise<void>;
  #lastProgram = '';

  constructor({ bashPath, env, enter = [] }: Omit<ForkServerDeps, 'lifeline'>, lifeline: number) {
    const shell = [bashPath, '--noprofile', '--norc', '-c', toScript(env.SHLVL)];
    const [program = '', ...args] = [...enter, ...shell];
    const stdio = withoutInherited(['ignore', 'ignore', 'ignore', lifeline]);
    this.#child = spawn(program, args, {
      cwd: '/',
      env,
      detached: true,
      stdio: ['pipe', 'pipe', 'ignore', ...stdio.slice(3)],
    });
    this.#gone = new Promise<void>((resolve) => {
      const end = () => {
        for (const one of this.#pending.splice(0)) one.reject(new Error('the fork server has exited'));
        resolve();
      };
      this.#child.once('exit', end);
      this.#child.once('error', end);
    });
    readPids(this.#child, (pid) => this.#pending.shift()?.resolve(pid));
    this.#child.stdin?.on('error', () => {});
  }

  start(program: string, request: string): Promise<number> {
    const pid = createDeferred<number>();
    this.#pending.push(pid);
    // bash reads byte by byte up to a NUL, so the long program text is only sent if it has changed.
    this.#child.stdin?.write(program === this.#lastProgram ? request : `${program}\0${request}`);
    this.#lastProgram = program;
    return pid.promise;
  }

  lives(): boolean {
    return this.#child.pid !== undefined && this.#child.exitCode === null && this.#child.signalCode === null;
  }

  async close(): Promise<void> {
    this.#child.stdin?.end();
    await this.#gone;
  }
}

function readPids({ stdout }: ChildProcess, onPid: (pid: number) => void): void {
  let rest = '';
  stdout?.setEncoding('latin1').on('data', (text: string) => {
    const lines = (rest + text).split('\n');
    rest = lines.pop() ?? '';
    for (const line of lines) onPid(Number(line));
  });
}

// With job control (`set -m`) each process leads its own process group and is not started with SIGINT ignored. bash
// increments SHLVL for itself; the script resets it, so that commands see the same level as without a fork server.
function toScript(level: string | undefined): string {
  const files = `0<"$1/$in" >"$1/$out" 2>"$1/$err" 4<&3 3>"$1/$status" ${heldFd}>&3`;
  const begin = `IFS=/ read -r -d '' in out err status; { exec "\${program[@]}"; } ${files} & echo $!`;
  return [
    'set -m',
    level === undefined ? 'unset -v SHLVL' : `SHLVL=${Number(level) || 0}`,
    'unset -v OLDPWD',
    // A text that starts with `/` is the folder of the FIFOs and starts a process; any other text sets `program`.
    `while IFS= read -r -d '' word; do case $word in /*) set -- "$word"; ${begin};; *) eval "program=($word)";; esac; done`,
  ].join('\n');
}

function toRequest({ stdin, stdout, stderr, status }: ForkServerFifos): string {
  const names = [stdin, stdout, stderr, status].map((path) => basename(path));
  return `${dirname(stdin)}\0${names.join('/')}\0`;
}
