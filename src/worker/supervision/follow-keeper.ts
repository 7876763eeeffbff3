import { closeSync, readSync } from 'node:fs';
import { createDeferred, settlesWithin } from '../../support/timing.ts';
import { Capture } from '../io/capture.ts';
import type { NetworkProxy } from '../network/network-proxy.ts';
import { type ProcessExit, sendSignal, toExit } from '../processes/process-exit.ts';
import type { OpenTerminal } from '../terminal/open-terminal.ts';
import { parseKeeperMessage } from './keeper-script.ts';

/** The keeper's `ended` message: how the command's shell ended, and how many processes its namespace had then. */
export interface KeeperEnd {
  readonly exit: ProcessExit;
  readonly processes: number | null;
}

/** A namespace with a keeper and a shell that waits for its launch message. */
export interface Keeper {
  /** The pid of the supervisor (`bwrap`, or `setpriv`, which executes `unshare`). */
  readonly pid: number;
  readonly stdout: number;
  readonly stderr: number;
  readonly stdin: number;
  /** Resolves to true once the shell waits for its launch message, or to false if the keeper ended before. */
  readonly ready: Promise<boolean>;
  readonly ended: Promise<KeeperEnd>;
  /** CPU time of the command, once the keeper has reported its end; null until then. */
  endedCpuMs(): number | null;
  /** Resolves when the supervisor has exited or its status pipe is at EOF. */
  readonly gone: Promise<void>;
  /** The proxy for its network requests, of its own or of its room; absent if its network is not filtered. */
  readonly proxy: NetworkProxy | undefined;
  /** True if it runs in the network of its room. */
  readonly isJoined: boolean;
  /** The mount points of its room when it was started; undefined without a room, or with a /tmp of its own. */
  readonly mountPoints?: readonly string[] | undefined;
  /** Sentences for `Enforcement.gaps` about parts of its room that it could not join. */
  readonly gaps?: readonly string[] | undefined;
  readonly terminal: OpenTerminal | undefined;
  /** Sends SIGKILL to the supervisor; every process in its namespace dies with it. */
  end(): void;
  /** Reads what is in `stderr`, to explain why a keeper did not become ready. */
  readStderr(): string;
  /** Ends a keeper that was never used, and closes its descriptors. */
  discard(): Promise<void>;
}

/** A supervisor that was just started, by `spawn` or by a `ForkServer`. */
export interface Launched {
  readonly pid: number;
  /** How it ended; undefined if it is not our child, so that only EOF on its status pipe shows its end. */
  readonly exited?: Promise<ProcessExit> | undefined;
}

/** Our ends of a keeper's FIFOs. */
export interface KeeperEnds {
  readonly stdout: number;
  readonly stderr: number;
  readonly status: number;
  readonly stdin: number;
}

/** The time limits of `followKeeper`. */
export interface KeeperLimits {
  /** How long `discard` waits for a keeper to become ready before it kills it. */
  readonly startMs: number;
  /** How long a keeper may take to become `ready` before it is killed. */
  readonly latestMs: number;
  /** How long a supervisor may take to disappear after SIGKILL. */
  readonly reapMs: number;
}

/** The default limits, which even a very busy machine meets. */
export const keeperLimits: KeeperLimits = { startMs: 3_000, latestMs: 30_000, reapMs: 1_000 };

/** Reads a new keeper's messages from `ends.status`, and makes the object that controls it. */
export function followKeeper(
  launched: Launched,
  ends: KeeperEnds,
  { proxy, terminal }: Pick<Keeper, 'proxy' | 'terminal'>,
  limits = keeperLimits,
): Keeper {
  const { exited, stopListening, ...reported } = listen(ends.status, launched.exited);
  let lives = true;
  const end = () => {
    if (lives) sendSignal(launched.pid, 'SIGKILL');
  };
  // A keeper killed before it opened its FIFOs never causes EOF, so close our end.
  const giveUp = async () => {
    end();
    if (!(await settlesWithin(exited, limits.reapMs))) stopListening();
  };
  const timer = setTimeout(() => void giveUp(), limits.latestMs);
  void reported.ready.then(() => clearTimeout(timer));
  void exited.then(() => {
    lives = false;
  });
  if (terminal) for (const fd of [ends.stdout, ends.stderr]) closeSync(fd);
  return {
    pid: launched.pid,
    stdout: terminal?.master ?? ends.stdout,
    stderr: terminal?.master ?? ends.stderr,
    stdin: ends.stdin,
    terminal,
    ...reported,
    gone: exited.then(() => {}),
    isJoined: false,
    proxy,
    end,
    readStderr: () => readAvailable(terminal?.master ?? ends.stderr),
    async discard() {
      // If `bwrap` is killed between its two forks, its first child waits forever, so let it become `ready` first.
      await settlesWithin(reported.ready, limits.startMs);
      await giveUp();
      for (const fd of [ends.stdin, ...(terminal ? [] : [ends.stdout, ends.stderr])]) closeSync(fd);
      terminal?.discard();
      await exited;
    },
  };
}

const killed: ProcessExit = { code: null, signal: 'SIGKILL' };

interface Reported extends Pick<Keeper, 'ready' | 'ended' | 'endedCpuMs'> {
  /** Resolves when the supervisor has exited or its status pipe is at EOF. */
  readonly exited: Promise<ProcessExit>;
  stopListening(): void;
}

// The keeper's `ended` message decides; without one, the supervisor's own exit is used.
function listen(fd: number, supervisorExit: Promise<ProcessExit> | undefined): Reported {
  const ready = createDeferred<boolean>();
  const ended = createDeferred<KeeperEnd>();
  let cpuMs: number | null = null;
  const onText = (text: string) => {
    const message = parseKeeperMessage(text);
    if (message?.kind === 'ready') ready.resolve(true);
    if (message?.kind !== 'ended') return;
    cpuMs = message.cpuMs;
    ended.resolve({ exit: toExit(message.status), processes: message.processes });
  };
  const capture = new Capture(fd, splitAtNul(onText));
  const exited = supervisorExit ?? capture.ended.then(() => killed);
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
    stopListening: () => capture.close(),
  };
}

const longestMessage = 160;

// A command can write to the status pipe through /proc/PID/fd, so the length of an unfinished message is limited.
function splitAtNul(onText: (text: string) => void): (bytes: Uint8Array) => boolean {
  let rest = '';
  return (bytes) => {
    const texts = (rest + Buffer.from(bytes).toString('latin1')).split('\0');
    rest = (texts.pop() ?? '').slice(-longestMessage);
    for (const text of texts) onText(text);
    return true;
  };
}

function readAvailable(fd: number): string {
  const buffer = Buffer.alloc(4_096);
  try {
    return buffer.toString('utf8', 0, readSync(fd, buffer, 0, buffer.length, null));
  } catch {
    return '';
  }
}
