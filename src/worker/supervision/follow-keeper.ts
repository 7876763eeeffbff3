import { closeSync, readSync } from 'node:fs';
import { constants as os } from 'node:os';
import { createDeferred } from '../../support/deferred.ts';
import { within } from '../../support/within.ts';
import { captureStream } from '../io/capture.ts';
import type { NetworkProxy } from '../network/network-proxy.ts';
import { sendSignal } from '../processes/send-signal.ts';
import type { ProcessExit } from '../start/start-process.ts';
import type { OpenTerminal } from '../terminal/open-terminal.ts';
import { toKeeperWord } from './keeper.ts';

/** How the command's own shell ended, and how many processes its namespace had then. */
export interface KeeperEnd {
  readonly exit: ProcessExit;
  readonly processes: number | null;
}

/** A namespace with a shell in it that waits for its order. */
export interface Keeper {
  /** The supervisor's own number. */
  readonly pid: number;
  readonly stdout: number;
  readonly stderr: number;
  readonly stdin: number;
  /** True once it waits for an order; false when it ended before. */
  readonly ready: Promise<boolean>;
  readonly ended: Promise<KeeperEnd>;
  /** CPU time of the command, once it has ended and the keeper has told; null until then. */
  endedCpuMs(): number | null;
  /** Resolves when the supervisor is gone. */
  readonly gone: Promise<void>;
  readonly proxy: NetworkProxy | undefined;
  readonly terminal: OpenTerminal | undefined;
  /** Ends it; whatever still runs in its namespace ends with it. */
  end(): void;
  /** What stands in its stderr, for one that did not get ready. */
  lastWords(): string;
  /** Ends one that was never used. */
  discard(): Promise<void>;
}

/** A supervisor that was just started. */
export interface Launched {
  readonly pid: number;
  /** How it ended; absent where its end is only seen by its silence. */
  readonly exited?: Promise<ProcessExit> | undefined;
}

/** Our ends of a keeper's pipes. */
export interface KeeperEnds {
  readonly stdout: number;
  readonly stderr: number;
  readonly status: number;
  readonly stdin: number;
}

/** How long a start may take on a busy machine before it counts as failed. */
export const startMs = 3_000;

/** Takes charge of a supervisor and of the keeper below it. */
export function followKeeper(
  launched: Launched,
  ends: KeeperEnds,
  { proxy, terminal }: Pick<Keeper, 'proxy' | 'terminal'>,
): Keeper {
  const { exited, hangUp, ...words } = listen(ends.status, launched.exited);
  let living = true;
  const end = () => {
    if (living) sendSignal(launched.pid, 'SIGKILL');
  };
  // Whoever died before it could open its descriptors leaves no silence that could be heard.
  const giveUp = async () => {
    end();
    if (!(await within(exited, reapMs))) hangUp();
  };
  const late = setTimeout(() => void giveUp(), latestMs);
  void words.ready.then(() => clearTimeout(late));
  void exited.then(() => {
    living = false;
  });
  if (terminal) for (const fd of [ends.stdout, ends.stderr]) closeSync(fd);
  return {
    pid: launched.pid,
    stdout: terminal?.master ?? ends.stdout,
    stderr: terminal?.master ?? ends.stderr,
    stdin: ends.stdin,
    terminal,
    ...words,
    gone: exited.then(() => {}),
    proxy,
    end,
    lastWords: () => readNow(terminal?.master ?? ends.stderr),
    async discard() {
      // A supervisor that dies between its two forks leaves the first one behind, waiting for it forever.
      await within(words.ready, startMs);
      await giveUp();
      for (const fd of [ends.stdin, ...(terminal ? [] : [ends.stdout, ends.stderr])]) closeSync(fd);
      terminal?.discard();
      await exited;
    },
  };
}

// No machine is so busy that a shell takes longer to start.
const latestMs = 30_000;
// What was killed is gone by then.
const reapMs = 1_000;
const byForce: ProcessExit = { code: null, signal: 'SIGKILL' };

// What the keeper says comes first; a supervisor that ends without a word of it tells by its own exit.
function listen(
  fd: number,
  told: Promise<ProcessExit> | undefined,
): Pick<Keeper, 'ready' | 'ended' | 'endedCpuMs'> & {
  readonly exited: Promise<ProcessExit>;
  /** Listens no more. */
  hangUp(): void;
} {
  const ready = createDeferred<boolean>();
  const ended = createDeferred<KeeperEnd>();
  let text = '';
  let cpuMs: number | null = null;
  const capture = captureStream(fd, (bytes) => {
    const words = (text + Buffer.from(bytes).toString('latin1')).split('\0');
    text = (words.pop() ?? '').slice(-longestWord);
    for (const word of words.map(toKeeperWord)) {
      if (word?.says === 'ready') ready.resolve(true);
      if (word?.says === 'ended') {
        cpuMs = word.cpuMs;
        ended.resolve({ exit: toExit(word.status), processes: word.processes });
      }
    }
    return true;
  });
  const exited = told ?? capture.ended.then(() => byForce);
  void exited.then((exit) => {
    capture.drain();
    capture.close();
    ready.resolve(false);
    ended.resolve({ exit: exit.code === null ? exit : toExit(exit.code), processes: null });
  });
  return {
    ready: ready.promise,
    ended: ended.promise,
    endedCpuMs: () => cpuMs,
    exited,
    hangUp: capture.close,
  };
}

function readNow(fd: number): string {
  const buffer = Buffer.alloc(4_096);
  try {
    return buffer.toString('utf8', 0, readSync(fd, buffer, 0, buffer.length, null));
  } catch {
    return '';
  }
}

const longestWord = 160;
// Of two names for one number the first is the usual one.
const signalNames = new Map(
  Object.entries(os.signals)
    .reverse()
    .map(([name, number]) => [number, name as NodeJS.Signals] as const),
);

/** How a command ended whose shell was waited for by another: death by signal N is the exit code 128+N. */
export function toExit(code: number): ProcessExit {
  const signal = signalNames.get(code - 128);
  return signal === undefined ? { code, signal: null } : { code: null, signal };
}
