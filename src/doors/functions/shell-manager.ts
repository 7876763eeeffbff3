import { NacreError } from '../../contract/failure.ts';
import { closeDefault, firstNacre } from './first-nacre.ts';
import type { ShellOptions } from './own-shells.ts';
import { ShellProcess, type ShellStatus } from './shell-process.ts';

/** How a shell is made and watched. */
export interface CreateShellOptions extends ShellOptions {
  /** Told of every status, `pending` first. */
  readonly onStatus?: ((status: ShellStatus) => void) | undefined;
}

/** The age in seconds from which on ended shells are cleaned up. */
export interface CleanupOptions {
  readonly maxAgeSeconds?: number | undefined;
}

/**
 * The background shells of the first nacre in this process, or of one with default settings. There is one manager:
 * whoever makes another gets the same, and every call can be made on the class as well.
 */
export class ShellManager {
  static #instance: ShellManager | undefined;
  readonly #known = new Map<string, ShellProcess>();

  constructor() {
    // biome-ignore lint/correctness/noConstructorReturn: the specification's manager is one however often it is made.
    if (ShellManager.#instance) return ShellManager.#instance;
    ShellManager.#instance = this;
  }

  static createShell(...given: Parameters<ShellManager['createShell']>): Promise<ShellProcess> {
    return new ShellManager().createShell(...given);
  }

  static getShell(id: string): Promise<ShellProcess | null> {
    return new ShellManager().getShell(id);
  }

  static listShells(): Promise<ShellProcess[]> {
    return new ShellManager().listShells();
  }

  static listRunning(): Promise<ShellProcess[]> {
    return new ShellManager().listRunning();
  }

  static cleanupCompleted(options?: CleanupOptions): Promise<number> {
    return new ShellManager().cleanupCompleted(options);
  }

  static killAll(): Promise<number> {
    return new ShellManager().killAll();
  }

  /** Ends and forgets every shell, and the manager itself; a nacre with default settings that was made is closed. */
  static async reset(): Promise<void> {
    const manager = ShellManager.#instance;
    await manager?.killAll();
    await manager?.cleanupCompleted({ maxAgeSeconds: 0 });
    ShellManager.#instance = undefined;
    await closeDefault();
  }

  /** Starts a shell in the background; rejects with a `NacreError` for what kept it from running. */
  async createShell(
    command: string,
    workingDir?: string,
    { onStatus, ...options }: CreateShellOptions = {},
  ): Promise<ShellProcess> {
    onStatus?.('pending');
    const { shells } = firstNacre();
    const view = await shells.start(command, workingDir, options);
    // What is over at once was running all the same.
    const started = { ...view, state: { ...view.state, status: 'running', end: null } as const };
    const shell = new ShellProcess(shells, started);
    this.#known.set(shell.id, shell);
    onStatus?.('running');
    if (onStatus)
      void shell.wait().then(
        ({ status }) => onStatus(status),
        () => {},
      );
    return shell;
  }

  /** The shell of that id, or null. */
  async getShell(id: string): Promise<ShellProcess | null> {
    return (await this.listShells()).find((shell) => shell.id === id) ?? null;
  }

  /** Every shell that runs or can still be asked about, oldest first. */
  async listShells(): Promise<ShellProcess[]> {
    const { shells } = firstNacre();
    const views = await shells.list();
    const found = await Promise.allSettled(
      views.map((view) => (this.#known.get(view.id) ?? new ShellProcess(shells, view)).readOutput()),
    );
    const all = found.flatMap((one) => (one.status === 'fulfilled' ? [one.value] : []));
    this.#known.clear();
    for (const shell of all) this.#known.set(shell.id, shell);
    return all;
  }

  /** Those that run. */
  async listRunning(): Promise<ShellProcess[]> {
    return (await this.listShells()).filter((shell) => shell.isRunning);
  }

  /** Forgets shells that ended so long ago, and tells how many. */
  async cleanupCompleted({ maxAgeSeconds = 3_600 }: CleanupOptions = {}): Promise<number> {
    if (!(maxAgeSeconds >= 0)) throw badAge(maxAgeSeconds);
    // No age at all means whatever has ended, however its time was rounded.
    const latest = maxAgeSeconds === 0 ? Number.POSITIVE_INFINITY : Date.now() - maxAgeSeconds * 1_000;
    const { shells } = firstNacre();
    const old = (await this.listShells()).filter(({ endedAt }) => endedAt !== null && endedAt <= latest);
    for (const { id } of old) {
      await shells.forget(id);
      this.#known.delete(id);
    }
    return old.length;
  }

  /** Ends every shell that runs, each with everything it started, and tells how many. */
  async killAll(): Promise<number> {
    const running = await this.listRunning();
    await Promise.all(running.map((shell) => shell.kill()));
    return running.length;
  }
}

function badAge(value: unknown): NacreError {
  return new NacreError('invalid_request', `maxAgeSeconds must be at least 0, not ${String(value)}.`, {
    hint: 'Give the age in seconds from which on shells are forgotten.',
  });
}
