import { z } from 'zod';
import { NacreError } from '../../contract/failure.ts';
import { isObject } from '../../support/is-object.ts';
import { receive } from '../../tools/common/define-tool.ts';
import type { ShellOptions } from './background-shells.ts';
import type { ShellStatus } from './constants.ts';
import { closeDefaultInstance, defaultInstance, openInstanceCount } from './default-instance.ts';
import { requireObject } from './require-object.ts';
import { ShellProcess } from './shell-process.ts';

/** Options of `createShell`. */
export interface CreateShellOptions extends ShellOptions {
  /** Called with every status, `pending` first. */
  readonly onStatus?: ((status: ShellStatus) => void) | undefined;
}

/** Options of `cleanupCompleted`. */
export interface CleanupOptions {
  /** Minimum age of an ended shell in seconds; by default every ended shell is forgotten. */
  readonly maxAgeSeconds?: number | undefined;
}

/**
 * The background shells of the default instance. A singleton: `new ShellManager()` always returns the same object, and every
 * method also exists as a static one.
 */
export class ShellManager {
  static #instance: ShellManager | undefined;
  readonly #known = new Map<string, ShellProcess>();

  constructor() {
    // biome-ignore lint/correctness/noConstructorReturn: the specification requires a singleton that is created with `new`.
    if (ShellManager.#instance) return ShellManager.#instance;
    ShellManager.#instance = this;
  }

  static createShell(...args: Parameters<ShellManager['createShell']>): Promise<ShellProcess> {
    return new ShellManager().createShell(...args);
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

  static cleanupCompleted(age?: number | CleanupOptions): Promise<number> {
    return new ShellManager().cleanupCompleted(age);
  }

  static killAll(): Promise<number> {
    return new ShellManager().killAll();
  }

  /** Kills and forgets every shell, drops the singleton, and closes the instance that `defaultInstance` created. */
  static async reset(): Promise<void> {
    const manager = openInstanceCount() > 0 ? ShellManager.#instance : undefined;
    await manager?.killAll();
    await manager?.cleanupCompleted();
    ShellManager.#instance = undefined;
    await closeDefaultInstance();
  }

  /** Starts a shell in the background; rejects with a `NacreError` if it could not start. */
  async createShell(
    command: string,
    workingDir?: string,
    allOptions: CreateShellOptions = {},
  ): Promise<ShellProcess> {
    const { onStatus, ...options } = requireObject(allOptions, 'createShell');
    onStatus?.('pending');
    const { shells } = defaultInstance();
    const view = await shells.start(command, workingDir, options);
    // A short command may have ended by now; report `running` first anyway.
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

  /** Returns the shell with that id, or null. */
  async getShell(id: string): Promise<ShellProcess | null> {
    return (await this.listShells()).find((shell) => shell.id === id) ?? null;
  }

  /** Lists running shells and ended ones that are still known, oldest first. */
  async listShells(): Promise<ShellProcess[]> {
    const { shells } = defaultInstance();
    const views = await shells.list();
    const found = await Promise.allSettled(
      views.map((view) => (this.#known.get(view.id) ?? new ShellProcess(shells, view)).readOutput()),
    );
    const all = found.flatMap((one) => (one.status === 'fulfilled' ? [one.value] : []));
    this.#known.clear();
    for (const shell of all) this.#known.set(shell.id, shell);
    return all;
  }

  /** Lists running shells. */
  async listRunning(): Promise<ShellProcess[]> {
    return (await this.listShells()).filter((shell) => shell.isRunning);
  }

  /** Forgets ended shells, or only those that ended at least `maxAgeSeconds` ago; returns their number. */
  async cleanupCompleted(age: number | CleanupOptions = {}): Promise<number> {
    const maxAgeSeconds = toSeconds(age);
    // 0 includes a shell that ended just now, even if rounding puts its `endedAt` in the future.
    const latest = maxAgeSeconds === 0 ? Number.POSITIVE_INFINITY : Date.now() - maxAgeSeconds * 1_000;
    const { shells } = defaultInstance();
    const old = (await this.listShells()).filter(({ endedAt }) => endedAt !== null && endedAt <= latest);
    for (const { id } of old) {
      await shells.forget(id);
      this.#known.delete(id);
    }
    return old.length;
  }

  /** Kills every running shell like `ShellProcess.kill`; returns their number. */
  async killAll(): Promise<number> {
    const running = await this.listRunning();
    await Promise.all(running.map((shell) => shell.kill()));
    return running.length;
  }
}

// A program in JavaScript may pass anything; another type than a number must not forget every shell.
function toSeconds(age: unknown): number {
  const value = isObject(age) ? (receive('cleanupCompleted', cleanupSchema, age).maxAgeSeconds ?? 0) : age;
  if (typeof value === 'number' && value >= 0) return value;
  const shown = typeof value === 'string' ? JSON.stringify(value) : String(value);
  throw new NacreError('invalid_request', `maxAgeSeconds must be a number of at least 0, not ${shown}.`, {
    hint: 'Pass the minimum age of the shells to forget, in seconds.',
  });
}

// An unknown field, such as `maxAge`, must not forget every shell either.
const cleanupSchema = z.strictObject({ maxAgeSeconds: z.unknown().optional() });
