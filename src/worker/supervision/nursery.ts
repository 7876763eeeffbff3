import { type ChildProcess, spawn } from 'node:child_process';
import { basename, dirname } from 'node:path';
import { createDeferred, type Deferred } from '../../support/deferred.ts';
import { withoutInherited } from '../io/inherited-descriptors.ts';
import { quote } from '../io/quote.ts';
import type { Environment } from '../machine/environment.ts';

/** The descriptor beside the others by which a process holds its status open as long as it lives. */
export const heldFd = 5;

/** What a nursery is made of: its shell, and the variables of all that it starts. */
export interface NurseryPlan {
  readonly bashPath: string;
  /** A descriptor that is at its end when we are. */
  life(): Promise<number>;
  readonly env: Environment;
}

/**
 * A small shell that starts processes in our place. Node copies the tables of all its memory to start one, and nothing
 * else happens in the meantime: milliseconds of every caller's time. A bash that has nothing in its memory takes a tenth.
 */
export interface Nursery {
  /** Starts a program with four FIFOs as its descriptors 0 to 3, and our life as 4; gives its number. */
  start(argv: readonly string[], fifos: NurseryFifos): Promise<number>;
  /** Ends the shell; what it has started and what still runs dies with it. */
  close(): Promise<void>;
}

/** Names of FIFOs in one folder; whoever gives them holds their other ends open. */
export interface NurseryFifos {
  readonly stdin: string;
  readonly stdout: string;
  readonly stderr: string;
  readonly status: string;
}

/** Makes a nursery; its shell is started at the first need, and again when it has ended. */
export function createNursery(plan: NurseryPlan): Nursery {
  let shell: NurseryShell | null = null;
  let closed = false;

  return {
    async start(argv, fifos) {
      if (closed) throw new Error('the nursery is closed');
      const life = await plan.life();
      if (!shell?.lives()) shell = startShell(plan, life);
      return shell.start(argv.map(quote).join(' '), toWords(fifos));
    },
    async close() {
      closed = true;
      await shell?.close();
    },
  };
}

interface NurseryShell {
  start(program: string, files: string): Promise<number>;
  lives(): boolean;
  close(): Promise<void>;
}

function startShell({ bashPath, env }: NurseryPlan, life: number): NurseryShell {
  const args = ['--noprofile', '--norc', '-c', toScript(env.SHLVL)];
  const stdio = withoutInherited(['ignore', 'ignore', 'ignore', life]);
  const child = spawn(bashPath, args, {
    cwd: '/',
    env,
    detached: true,
    stdio: ['pipe', 'pipe', 'ignore', ...stdio.slice(3)],
  });
  const asked: Deferred<number>[] = [];
  const gone = new Promise<void>((resolve) => {
    const end = () => {
      for (const one of asked.splice(0)) one.reject(new Error('the shell that starts commands has ended'));
      resolve();
    };
    child.once('exit', end);
    child.once('error', end);
  });
  readNumbers(child, (pid) => asked.shift()?.resolve(pid));
  child.stdin?.on('error', () => {});
  let known = '';
  return {
    start(program, files) {
      const answer = createDeferred<number>();
      asked.push(answer);
      // What is long is only told when it has changed: the shell reads byte by byte.
      child.stdin?.write(program === known ? files : `${program}\0${files}`);
      known = program;
      return answer.promise;
    },
    lives: () => child.pid !== undefined && child.exitCode === null && child.signalCode === null,
    async close() {
      child.stdin?.end();
      await gone;
    },
  };
}

function readNumbers({ stdout }: ChildProcess, onNumber: (pid: number) => void): void {
  let rest = '';
  stdout?.setEncoding('latin1').on('data', (text: string) => {
    const lines = (rest + text).split('\n');
    rest = lines.pop() ?? '';
    for (const line of lines) onNumber(Number(line));
  });
}

// With job control each process leads a group of its own, and none is started with SIGINT ignored. The shell counts
// itself as a level of shells; what it starts is none below it.
function toScript(level: string | undefined): string {
  const files = `0<"$1/$in" >"$1/$out" 2>"$1/$err" 4<&3 3>"$1/$status" ${heldFd}>&3`;
  const begin = `IFS=/ read -r -d '' in out err status; { exec "\${program[@]}"; } ${files} & echo $!`;
  return [
    'set -m',
    level === undefined ? 'unset -v SHLVL' : `SHLVL=${Number(level) || 0}`,
    'unset -v OLDPWD',
    // A folder begins with a slash, a program with a quote.
    `while IFS= read -r -d '' word; do case $word in /*) set -- "$word"; ${begin};; *) eval "program=($word)";; esac; done`,
  ].join('\n');
}

function toWords({ stdin, stdout, stderr, status }: NurseryFifos): string {
  const names = [stdin, stdout, stderr, status].map((path) => basename(path));
  return `${dirname(stdin)}\0${names.join('/')}\0`;
}
