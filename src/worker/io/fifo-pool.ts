import { execFile } from 'node:child_process';
import { closeSync, constants, existsSync, lstatSync, openSync, rmSync, unlinkSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { NacreError } from '../../contract/failure.ts';
import { makeFolder } from '../../support/make-folder.ts';

const run = promisify(execFile);
const lowWater = 16;
// Even a very busy machine creates a batch within this time.
const defaultMakeMs = 60_000;

/**
 * FIFOs for commands. Node's own pipes are socket pairs, on which `tee /dev/stderr` and `> /dev/stdout` fail, and Node
 * cannot create FIFOs, so `mkfifo` creates them in batches in advance. A FIFO is never reused while a surviving process
 * may have it open.
 */
export interface FifoPool {
  /** Returns the names of fresh FIFOs; the caller opens and unlinks them (such as by `openForReading`). */
  take(count: number): Promise<readonly string[]>;
  /** Puts back FIFOs that no process has open and whose names still exist. */
  release(names: readonly string[]): void;
  /** Uses `run` for `mkfifo` from now on, because `execFile` blocks the event loop for milliseconds. */
  runWith(run: RunProgram): void;
  /** Resolves when no FIFO is being created any more. */
  close(): Promise<void>;
}

/** Runs a program for at most `limitMs`; returns whether it has exited with 0. */
export type RunProgram = (argv: readonly string[], limitMs: number) => Promise<boolean>;

/** Makes a pool that creates its FIFOs in `folder`, `batchSize` at a time. */
export function createFifoPool(
  folder: string,
  batchSize = 128,
  mkfifo = findMkfifo(),
  makeMs = defaultMakeMs,
): FifoPool {
  return new FolderFifoPool(folder, batchSize, { mkfifo, makeMs });
}

/** The program that creates FIFOs, and how long it may take. */
interface FifoMaker {
  readonly mkfifo: string;
  readonly makeMs: number;
}

// Clients may start nacre with a PATH without the system folders.
function findMkfifo(): string {
  return ['/usr/bin/mkfifo', '/bin/mkfifo'].find((path) => existsSync(path)) ?? 'mkfifo';
}

class FolderFifoPool implements FifoPool {
  readonly #folder: string;
  readonly #batchSize: number;
  readonly #maker: FifoMaker;
  #names: string[] = [];
  #created = 0;
  #refilling: Promise<void> | null = null;
  #run: RunProgram | undefined;

  constructor(folder: string, batchSize: number, maker: FifoMaker) {
    this.#folder = folder;
    this.#batchSize = batchSize;
    this.#maker = maker;
  }

  async take(count: number): Promise<readonly string[]> {
    // If the folder was deleted, none of `#names` exists any more.
    if (this.#names[0] !== undefined && !existsSync(this.#names[0])) this.#names = [];
    while (this.#names.length < count) await this.#refillOnce();
    const taken = this.#names.splice(0, count);
    if (this.#names.length < lowWater) this.#refillOnce().catch(() => {});
    return taken;
  }

  release(names: readonly string[]): void {
    this.#names.unshift(...names);
  }

  runWith(run: RunProgram): void {
    this.#run = run;
  }

  async close(): Promise<void> {
    await this.#refilling?.catch(() => {});
  }

  #refillOnce(): Promise<void> {
    this.#refilling ??= this.#refill().finally(() => {
      this.#refilling = null;
    });
    return this.#refilling;
  }

  async #refill(): Promise<void> {
    const names = Array.from({ length: this.#batchSize }, () =>
      join(this.#folder, `fifo-${this.#created++}`),
    );
    if (!(await this.#tryToRun(names))) await createFifos(this.#maker, this.#folder, names);
    this.#names.push(...names);
  }

  // If this fails, `createFifos` tries again, and finds out why.
  async #tryToRun(names: readonly string[]): Promise<boolean> {
    const { mkfifo, makeMs } = this.#maker;
    if (!this.#run || !existsSync(this.#folder)) return false;
    const isDone = await this.#run(toMkfifo(mkfifo, names), makeMs).catch(() => false);
    if (!isDone) removeFifos(names);
    return isDone;
  }
}

function toMkfifo(mkfifo: string, names: readonly string[]): readonly [string, ...string[]] {
  return [mkfifo, '-m', '600', ...names];
}

async function createFifos(
  { mkfifo, makeMs }: FifoMaker,
  folder: string,
  names: readonly string[],
): Promise<void> {
  try {
    makeFolder(folder);
    const [program, ...args] = toMkfifo(mkfifo, names);
    await run(program, args, { timeout: makeMs, killSignal: 'SIGKILL' });
  } catch (cause) {
    removeFifos(names);
    const reason = isTimeout(cause) ? `${mkfifo} took longer than ${makeMs} ms` : lastLine(cause);
    throw new NacreError('resources_unavailable', `Cannot create pipes in ${folder}: ${reason}`, {
      hint: isTimeout(cause)
        ? 'The machine is overloaded, or the folder is on a slow file system. Try again, or set state_dir to a folder on a local file system.'
        : 'Free some space there, or set state_dir to a folder on a local file system.',
      cause,
    });
  }
}

function removeFifos(names: readonly string[]): void {
  for (const name of names) if (isFifo(name)) rmSync(name);
}

function isTimeout(error: unknown): boolean {
  return error instanceof Error && 'killed' in error && error.killed === true;
}

// The first line of the message is dropped: it is the command line, with the names of all FIFOs.
function lastLine(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  const { message, code } = error as NodeJS.ErrnoException;
  const [first = '', ...lines] = message.trim().split('\n');
  return lines.at(-1) ?? (first.startsWith('Command failed') ? `mkfifo failed (${code})` : first);
}

function isFifo(path: string): boolean {
  try {
    return lstatSync(path).isFIFO();
  } catch {
    return false;
  }
}

const { O_NONBLOCK, O_RDONLY, O_RDWR, O_WRONLY } = constants;

/** Both ends of a FIFO whose name is already unlinked. */
export interface Fifo {
  /** Our end, opened with O_NONBLOCK. */
  readonly ours: number;
  /** The command's end, which blocks like any pipe. */
  readonly theirs: number;
}

/** Opens a FIFO that the command writes to; `theirs` must stay open until the command has it, or `ours` reads EOF. */
export function openForReading(name: string): Fifo {
  return withHolder(name, O_RDONLY | O_NONBLOCK, () => {
    const [ours, theirs] = openBoth(name, O_RDONLY | O_NONBLOCK, O_WRONLY);
    return { ours, theirs };
  });
}

/** A FIFO whose other end a shell opens by name; `holder` has that end open until then. */
export interface NamedFifo {
  readonly ours: number;
  readonly holder: number;
}

/** Opens two FIFOs with `openReader`. */
export function openReaders(one: string, other: string): readonly [number, number] {
  const first = openReader(one);
  try {
    return [first, openReader(other)];
  } catch (error) {
    closeSync(first);
    throw error;
  }
}

/** Opens the writing end of a FIFO that has a reader; returns an empty list if its name is gone. */
export function tryOpenWriter(name: string): readonly number[] {
  try {
    return [openSync(name, O_WRONLY | O_NONBLOCK)];
  } catch {
    return [];
  }
}

/** Opens a FIFO for reading without waiting for a writer. */
export function openReader(name: string): number {
  return openSync(name, O_RDONLY | O_NONBLOCK);
}

/** Opens a FIFO for writing that another process will open by name; `holder` is its reader until then. */
export function openNamedForWriting(name: string): NamedFifo {
  const [holder, ours] = openBoth(name, O_RDONLY | O_NONBLOCK, O_WRONLY | O_NONBLOCK);
  return { ours, holder };
}

/** Opens a FIFO that the command reads from. */
export function openForWriting(name: string): Fifo {
  return withHolder(name, O_RDWR | O_NONBLOCK, () => {
    const [theirs, ours] = openBoth(name, O_RDONLY, O_WRONLY | O_NONBLOCK);
    return { ours, theirs };
  });
}

/** Unlinks a FIFO's name, if it still exists. */
export function unlinkIfPresent(name: string): void {
  try {
    unlinkSync(name);
  } catch {
    // ENOENT: the FIFO or its folder was deleted.
  }
}

// A child shares the open file description, and with it O_NONBLOCK, so the command's end is opened without that flag.
// That open() does not block, because `holder` already has the other end open.
function withHolder(name: string, holderFlags: number, open: () => Fifo): Fifo {
  const holder = openSync(name, holderFlags);
  try {
    return open();
  } finally {
    closeSync(holder);
    unlinkSync(name);
  }
}

function openBoth(name: string, readerFlags: number, writerFlags: number): readonly [number, number] {
  const reader = openSync(name, readerFlags);
  try {
    return [reader, openSync(name, writerFlags)];
  } catch (error) {
    closeSync(reader);
    throw error;
  }
}
