import { closeSync, readSync } from 'node:fs';
import { settlesWithin } from '../../support/timing.ts';
import type { Layer } from '../changes/layer.ts';
import type { NetworkProxy } from '../network/network-proxy.ts';
import type { OpenTerminal } from '../terminal/open-terminal.ts';
import type { OwnProcesses } from './find-family.ts';
import { type KeeperEnd, KeeperLife, type KeeperLimits, type Launched } from './keeper-life.ts';

/** A namespace with a keeper and a shell that waits for its launch message. */
export interface Keeper extends OwnProcesses {
  /** The pid of the supervisor (`bwrap`, or `setpriv`, which executes `unshare`); without a supervisor, that of the init process. */
  readonly pid: number;
  readonly stdout: number;
  readonly stderr: number;
  readonly stdin: number;
  /** Resolves to true once the shell waits for its launch message, or to false if the keeper ended before. */
  readonly ready: Promise<boolean>;
  readonly ended: Promise<KeeperEnd>;
  /** CPU time of the command, once the keeper has reported its end; null until then. */
  endedCpuMs(): number | null;
  /** Resolves when the process `pid` has exited and the namespace is empty; at the latest seconds after SIGKILL. */
  readonly gone: Promise<void>;
  /** Waits after `end` until no process of the command can write any more (`KeeperLife.emptied`). */
  emptied(limitMs: number, reportedEmpty: boolean): Promise<boolean>;
  /** The init process of the namespace, if it has survived `gone`. */
  survivor(): number | undefined;
  /** The proxy for its network requests, of its own or of its room; absent if its network is not filtered. */
  readonly proxy: NetworkProxy | undefined;
  /** True if it runs in the network of its room. */
  readonly isJoined: boolean;
  /** The mount points of its room when it was started; undefined without a room, or with a /tmp of its own. */
  readonly mountPoints?: readonly string[] | undefined;
  /** Sentences for `Enforcement.gaps` about parts of its room that it could not join. */
  readonly gaps?: readonly string[] | undefined;
  /** True if its /tmp is not that of its room. */
  readonly discardsTmp?: boolean | undefined;
  readonly terminal: OpenTerminal | undefined;
  /** The layer over its workspace, if its changes are tracked or held. */
  readonly layer?: Layer | undefined;
  /** Kills the init process of the namespace, and with it every process there; its supervisor then exits. */
  end(): void;
  /** Continues its processes with SIGCONT, in case one of them was stopped; called just before the command runs. */
  wake(): void;
  /** Reads what is in `stderr`, to explain why a keeper did not become ready. */
  readStderr(): string;
  /** Ends a keeper that was never used, and closes its descriptors; a second call waits for the first. */
  discard(): Promise<void>;
}

/** Our ends of a keeper's FIFOs. */
export interface KeeperEnds {
  readonly stdout: number;
  readonly stderr: number;
  readonly status: number;
  readonly stdin: number;
}

/** The default limits, which even a very busy machine meets. */
export const keeperLimits: KeeperLimits = { startMs: 3_000, latestMs: 30_000, reapMs: 1_000 };

/** The parts of a keeper that differ from one to another. */
export type KeeperParts = Pick<Keeper, 'proxy' | 'terminal' | keyof OwnProcesses>;

/** Reads a new keeper's messages from `ends.status`, and makes the object that controls it. */
export function followKeeper(
  launched: Launched,
  ends: KeeperEnds,
  { proxy, terminal, hasSupervisor, ownProcesses }: KeeperParts,
  limits = keeperLimits,
): Keeper {
  const life = new KeeperLife(launched, ends.status, { hasSupervisor, ownProcesses }, limits);
  const timer = setTimeout(() => void life.giveUp(), limits.latestMs);
  void life.ready.then(() => clearTimeout(timer));
  if (terminal) for (const fd of [ends.stdout, ends.stderr]) closeSync(fd);
  return {
    pid: launched.pid,
    hasSupervisor,
    ownProcesses,
    stdout: terminal?.master ?? ends.stdout,
    stderr: terminal?.master ?? ends.stderr,
    stdin: ends.stdin,
    terminal,
    ready: life.ready,
    ended: life.ended,
    endedCpuMs: () => life.cpuMs,
    gone: life.gone,
    emptied: (limitMs, reportedEmpty) => life.emptied(limitMs, reportedEmpty),
    survivor: () => life.survivor,
    isJoined: false,
    proxy,
    end: () => life.end(),
    wake: () => life.wake(),
    readStderr: () => readAvailable(terminal?.master ?? ends.stderr),
    discard: once(async () => {
      // If `bwrap` is killed between its two forks, its first child waits forever, so let it become `ready` first.
      await settlesWithin(life.ready, limits.startMs);
      await life.giveUp();
      for (const fd of [ends.stdin, ...(terminal ? [] : [ends.stdout, ends.stderr])]) closeSync(fd);
      terminal?.discard();
    }),
  };
}

function once(step: () => Promise<void>): () => Promise<void> {
  let done: Promise<void> | undefined;
  return () => {
    done ??= step();
    return done;
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
