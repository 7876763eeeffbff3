import { type ChildProcessWithoutNullStreams, spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { PassThrough, type Readable } from 'node:stream';
import { main } from '../../src/assembly/main.ts';
import { endWorkers } from '../../src/worker/host/end-workers.ts';
import { builtCli } from './build.ts';
import { processesWith } from './processes.ts';
import { temporaryFolder } from './temporary-folder.ts';

/** A separate home, working directory and environment, independent of those of this machine. */
export interface Place {
  readonly cwd: string;
  readonly env: Readonly<Record<string, string>>;
}

/** Creates a new place; its environment contains `mark`, by which `survivors` finds its processes. */
export function createPlace(env: Readonly<Record<string, string>> = {}): Place & { readonly mark: string } {
  const cwd = temporaryFolder();
  const mark = `NACRE_TEST_PLACE=${cwd}`;
  const own = { PATH: '/usr/local/bin:/usr/bin:/bin', HOME: cwd, LANG: 'C.UTF-8', NACRE_LOGIN_ENV: 'never' };
  return { cwd, mark, env: { ...own, NACRE_OUTLIVE: outlive, PLACE: mark, ...env } };
}

/** A place as the second argument of `createNacre`. */
export function surroundingsOf({ cwd, env }: Place): Place {
  return { cwd, env };
}

/**
 * Most tests assert that nothing survives a server, so commands end with it, unless NACRE_TEST_OUTLIVE is `on`. Then
 * `endKept` has to end the worker.
 */
const outlive = process.env.NACRE_TEST_OUTLIVE ?? 'off';

/** Ends the detached worker of a place with the commands and shells that outlived their server. */
export async function endKept({ cwd, env }: Place): Promise<void> {
  const { killed } = await endWorkers(env.NACRE_STATE_DIR ?? join(env.HOME ?? cwd, '.local/state/nacre'));
  if (killed.length > 0) throw new Error(`These workers did not end: ${killed.join(', ')}`);
}

/** The pids of processes of a place that are still alive; waits up to 5 s for those that are exiting. */
export async function survivors(mark: string): Promise<number[]> {
  for (let tries = 0; tries < 500 && processesWith(mark).length > 0; tries += 1) await sleep(10);
  return processesWith(mark);
}

/** Resolves after `ms`. */
export function sleep(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}

/** The result of a command line. */
export interface Ended {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

/** Starts a command line inside this process, so that its code counts for coverage. */
export function startInProcess(argv: readonly string[], { cwd, env }: Place) {
  const [stdin, stdout, stderr] = [new PassThrough(), new PassThrough(), new PassThrough()];
  const interruption = new AbortController();
  const [out, err] = [collect(stdout), collect(stderr)];
  const io = { stdin, stdout, stderr, interrupted: interruption.signal };
  const program = { node: process.execPath, script: builtCli };
  const ended = main(argv, { env, cwd, io, program }).then(
    (code): Ended => ({ code, stdout: out.text(), stderr: err.text() }),
  );
  return {
    stdin,
    stdout,
    stderr,
    out,
    err,
    ended,
    interrupt: (signal: string) => interruption.abort(signal),
  };
}

/** Runs a command line inside this process until it ends. */
export function runInProcess(
  argv: readonly string[],
  place: Place,
  input: string | Uint8Array = '',
): Promise<Ended> {
  const started = startInProcess(argv, place);
  started.stdin.end(input);
  return started.ended;
}

/** Starts the built command line as a separate process. */
export function startReal(argv: readonly string[], { cwd, env }: Place): ChildProcessWithoutNullStreams {
  return spawn(process.execPath, [builtCli, ...argv], { cwd, env });
}

/** Waits for a process started by `startReal`. */
export async function endOf(child: ChildProcessWithoutNullStreams): Promise<Ended> {
  const [out, err] = [collect(child.stdout), collect(child.stderr)];
  const [code] = await once(child, 'close');
  return { code, stdout: out.text(), stderr: err.text() };
}

/** Collects the bytes of a stream. */
export function collect(stream: Readable) {
  const chunks: Buffer[] = [];
  stream.on('data', (chunk: Buffer) => chunks.push(chunk));
  return { bytes: () => Buffer.concat(chunks), text: () => Buffer.concat(chunks).toString() };
}
