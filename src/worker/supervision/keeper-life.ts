import { createDeferred, createStopwatch, settlesWithin, sleep } from '../../support/timing.ts';
import { Capture } from '../io/capture.ts';
import { continueWhileStopped } from '../processes/continue-helpers.ts';
import { childrenOf } from '../processes/descendants.ts';
import { lostExit, type ProcessExit, sendSignal, toExit } from '../processes/process-exit.ts';
import { canFindFamily, type Family, findFamily, type OwnProcesses } from './find-family.ts';
import { parseKeeperMessage } from './keeper-script.ts';
import { killHolders } from './kill-holders.ts';
import { readStartTime, untilExited, untilGone } from './until-gone.ts';

/** The keeper's `ended` message: how the command's shell ended. */
export interface KeeperEnd {
  readonly exit: ProcessExit;
  /** How many processes its namespace had then; 2 can mean more in a namespace of the fork server. */
  readonly processes: number | null;
}

/** A supervisor or an init process that was just started, by `spawn` or by a `ForkServer`. */
export interface Launched {
  readonly pid: number;
  /** How it ended; `isLost` if its fork server ended first. */
  readonly exited: Promise<ProcessExit>;
}

/** The time limits of a keeper. */
export interface KeeperLimits {
  /** How long `discard` waits for a keeper to become ready before it kills it. */
  readonly startMs: number;
  /** How long a keeper may take to become `ready` before it is killed. */
  readonly latestMs: number;
  /** How long a supervisor may take to disappear after SIGKILL. */
  readonly reapMs: number;
}

const killed: ProcessExit = { code: null, signal: 'SIGKILL' };
// A supervisor exits a moment after the init process that it waits for; on a very busy machine that moment is long.
const exitMs = 500;
const slowExitMs = 20_000;
// A process of a namespace that was killed can survive in an uninterruptible system call.
const emptyMs = 4_000;
const pollMs = 20;

/**
 * The processes of a keeper: `end` kills the init process of its namespace, which its supervisor or the fork server then reaps. If a
 * supervisor were killed, its init process would become a child of PID 1, which in many containers never reaps it.
 */
export class KeeperLife {
  readonly #launched: Launched;
  readonly #own: OwnProcesses;
  readonly #limits: KeeperLimits;
  readonly #status: Capture;
  readonly #statusFd: number;
  readonly #ready = createDeferred<boolean>();
  readonly #ended = createDeferred<KeeperEnd>();
  readonly gone: Promise<void>;
  cpuMs: number | null = null;
  #family: Family | undefined;
  #hasReported = false;
  #lives = true;
  #isEmpty = false;
  #isEnding = false;
  #holdersGone: Promise<boolean> | undefined;
  #stopContinuing: () => void = () => {};

  constructor(launched: Launched, statusFd: number, own: OwnProcesses, limits: KeeperLimits) {
    this.#launched = launched;
    this.#statusFd = statusFd;
    this.#own = own;
    this.#limits = limits;
    this.#status = new Capture(
      statusFd,
      splitAtNul((text) => this.#onText(text)),
    );
    this.gone = launched.exited.then((exit) => this.#onExit(exit));
    if (own.ownProcesses > 0) this.#stopContinuing = continueWhileStopped(-launched.pid);
  }

  get ready(): Promise<boolean> {
    return this.#ready.promise;
  }

  get ended(): Promise<KeeperEnd> {
    return this.#ended.promise;
  }

  /** The init process of its namespace, if that has outlived its parent for longer than processes need to die. */
  get survivor(): number | undefined {
    return this.#lives || this.#isEmpty ? undefined : this.#family?.init;
  }

  end(): void {
    this.#isEnding = true;
    if (!this.#lives) return;
    const { pid } = this.#launched;
    const init = this.#family?.init ?? this.#possibleInits()[0];
    sendSignal(init ?? pid, 'SIGKILL');
    if (init !== undefined && init !== pid) this.#expectExit(createStopwatch());
  }

  /** Continues all its processes, and from now on only nacre's own: the command may stop its processes itself. */
  wake(): void {
    if (!this.#lives || this.#own.ownProcesses === 0) return;
    this.#stopContinuing();
    const { pid } = this.#launched;
    const { init = pid, keeper = pid, shell } = this.#family ?? {};
    const own = [...new Set([pid, init, keeper])];
    for (const one of [-pid, ...own, shell]) sendSignal(one, 'SIGCONT');
    const stops = own.map(continueWhileStopped);
    this.#stopContinuing = () => {
      for (const stop of stops) stop();
    };
    if (!this.#lives) this.#stopContinuing();
  }

  /**
   * Waits up to `limitMs` after `end` until no process of the namespace can write any more; returns false if that takes longer.
   * Init and keeper have the status pipe open. Before the kernel closes the keeper's files, it kills all processes of the namespace
   * and refuses to fork there. So EOF on the pipe is enough if the keeper had reported that the command left no process
   * (`reportedEmpty`) and is not init itself; otherwise init must have exited. Both happen milliseconds before `gone`, because the
   * kernel first unmounts the file systems of the namespace.
   */
  async emptied(limitMs: number, reportedEmpty: boolean): Promise<boolean> {
    const { init, keeper, initStartTime = null } = this.#family ?? {};
    if (init === undefined || initStartTime === null) return settlesWithin(this.gone, limitMs);
    const isClosed = await settlesWithin(Promise.race([this.#status.ended, this.gone]), limitMs);
    return (isClosed && reportedEmpty && keeper !== init) || untilExited(init, initStartTime, limitMs);
  }

  /** Ends it and, if it is not gone within `reapMs`, everything that has its status pipe open. */
  async giveUp(): Promise<void> {
    this.end();
    if (await settlesWithin(this.gone, this.#limits.reapMs)) return;
    if ((await this.#initDies()) && (await settlesWithin(this.gone, slowExitMs))) return;
    sendSignal(this.#launched.pid, 'SIGKILL');
    await this.#killHolders();
    this.#status.close();
    await settlesWithin(this.gone, this.#limits.reapMs);
  }

  // The processes that may be the init process. Before `ready`, that is any child of a supervisor, which may have none yet.
  #possibleInits(): readonly number[] {
    const { hasSupervisor, ownProcesses } = this.#own;
    if (ownProcesses === 0) return [];
    return hasSupervisor ? childrenOf(this.#launched.pid) : [this.#launched.pid];
  }

  // A supervisor that is killed before it has reaped its init process leaves a zombie where PID 1 reaps nothing. If it was
  // stopped, `continueWhileStopped` continues it.
  #expectExit(elapsed: () => number): void {
    const check = () => {
      if (!this.#lives) return;
      if (this.#isReaping() && elapsed() < slowExitMs) this.#expectExit(elapsed);
      else sendSignal(this.#launched.pid, 'SIGKILL');
    };
    setTimeout(check, exitMs).unref();
  }

  // A process that has received SIGKILL dies only when it is scheduled.
  async #initDies(): Promise<boolean> {
    const elapsed = createStopwatch();
    while (!this.#isReaping()) {
      if (this.#possibleInits().length === 0 || elapsed() > emptyMs) return false;
      await sleep(pollMs);
    }
    return true;
  }

  /** True while the init process is dead, and its parent has not reaped it yet. */
  #isReaping(): boolean {
    const inits = this.#possibleInits();
    return inits.length > 0 && inits.every((pid) => readStartTime(pid) === null);
  }

  #onText(text: string): void {
    const message = parseKeeperMessage(text);
    // A command of root can repeat the message endlessly, and each one would be answered by reading /proc.
    if (message?.kind === 'ready' && !this.#hasReported) this.#onReady();
    if (message?.kind !== 'ended') return;
    this.cpuMs = message.cpuMs;
    this.#ended.resolve({ exit: exitOf(message), processes: message.processes });
  }

  // A supervisor that was killed before it had tied the namespace to its own life leaves a keeper behind, which may still report `ready`.
  #onReady(): void {
    this.#hasReported = true;
    if (this.#own.ownProcesses > 0 && canFindFamily()) {
      this.#family = findFamily(this.#launched.pid, this.#own);
      if (!this.#family) return void this.giveUp().then(() => this.#ready.resolve(false));
    }
    this.#ready.resolve(true);
  }

  // The keeper's `ended` message decides. Without one, the end of the command is only known if nacre killed it.
  async #onExit(exit: ProcessExit): Promise<void> {
    this.#status.drain();
    if (exit.isLost) await this.#endOrphans();
    this.#isEmpty = await this.#emptyNamespace(exit);
    this.#lives = false;
    this.#stopContinuing();
    this.#status.close();
    this.#ready.resolve(false);
    const isKnown = this.#own.ownProcesses === 0 && !exit.isLost;
    this.#ended.resolve({ exit: isKnown ? exit : this.#isEnding ? killed : lostExit, processes: null });
  }

  // A killed supervisor is reaped before its namespace is empty. The init process closes its end of the status pipe when it begins to
  // exit, but is removed only after all others, so EOF is not enough: the process itself is awaited.
  // Its pid is not known before `ready`, or if the kernel does not list children. Then it is gone if its supervisor has exited without
  // a signal, or if the exit is its own. Otherwise it is one of the processes that have the status pipe open.
  async #emptyNamespace({ signal, isLost }: ProcessExit): Promise<boolean> {
    const { hasSupervisor, ownProcesses } = this.#own;
    const isReaped = !isLost && (signal === null || !hasSupervisor);
    if (!this.#family) return ownProcesses === 0 || isReaped || this.#killHolders();
    const { init, initStartTime } = this.#family;
    if (await untilGone(init, initStartTime, 0)) return true;
    sendSignal(init, 'SIGKILL');
    return untilGone(init, initStartTime, emptyMs);
  }

  // The status pipe reads EOF when the init process begins to exit.
  async #endOrphans(): Promise<void> {
    sendSignal(this.#family?.init, 'SIGKILL');
    sendSignal(this.#launched.pid, 'SIGKILL');
    if (await settlesWithin(this.#status.ended, this.#limits.reapMs)) return;
    await this.#killHolders();
  }

  // Only one call looks at the status pipe: after it, the descriptor is closed and its number may be used again.
  #killHolders(): Promise<boolean> {
    this.#holdersGone ??= killHolders(this.#statusFd);
    return this.#holdersGone;
  }
}

const longestMessage = 400;

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

function exitOf({ status, isKilled }: { readonly status: number; readonly isKilled: boolean }): ProcessExit {
  return isKilled ? toExit(status) : { code: status, signal: null };
}
