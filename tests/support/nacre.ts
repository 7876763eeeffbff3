import { type ChildProcessWithoutNullStreams, spawn } from 'node:child_process';
import { once } from 'node:events';
import { PassThrough, type Readable } from 'node:stream';
import { main } from '../../src/assembly/main.ts';
import { builtCli } from './build.ts';
import { processesWith } from './processes.ts';
import { temporaryFolder } from './temporary-folder.ts';

/** A place of its own: a home, a working directory and an environment that nothing of this machine leaks into. */
export interface Place {
  readonly cwd: string;
  readonly env: Readonly<Record<string, string>>;
}

/** Makes a fresh place; its environment carries a text by which its processes are found. */
export function createPlace(env: Readonly<Record<string, string>> = {}): Place & { readonly mark: string } {
  const cwd = temporaryFolder();
  const mark = `NACRE_TEST_PLACE=${cwd}`;
  const own = { PATH: '/usr/local/bin:/usr/bin:/bin', HOME: cwd, LANG: 'C.UTF-8', NACRE_LOGIN_ENV: 'never' };
  return { cwd, mark, env: { ...own, PLACE: mark, ...env } };
}

/** Everything of a place that is still alive, once what is ending has had a moment. */
export async function survivors(mark: string): Promise<number[]> {
  for (let tries = 0; tries < 500 && processesWith(mark).length > 0; tries += 1) await sleep(10);
  return processesWith(mark);
}

/** A pause. */
export function sleep(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}

/** What a command line came to. */
export interface Ended {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

/** A command line that runs inside this process, so that its coverage counts. */
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

/** Runs a command line inside this process to its end. */
export function runInProcess(
  argv: readonly string[],
  place: Place,
  input: string | Uint8Array = '',
): Promise<Ended> {
  const started = startInProcess(argv, place);
  started.stdin.end(input);
  return started.ended;
}

/** Starts the built command line as a process of its own. */
export function startReal(argv: readonly string[], { cwd, env }: Place): ChildProcessWithoutNullStreams {
  return spawn(process.execPath, [builtCli, ...argv], { cwd, env });
}

/** Waits for a process that was started for real. */
export async function endOf(child: ChildProcessWithoutNullStreams): Promise<Ended> {
  const [out, err] = [collect(child.stdout), collect(child.stderr)];
  const [code] = await once(child, 'close');
  return { code, stdout: out.text(), stderr: err.text() };
}

/** Gathers what a stream says. */
export function collect(stream: Readable) {
  const chunks: Buffer[] = [];
  stream.on('data', (chunk: Buffer) => chunks.push(chunk));
  return { bytes: () => Buffer.concat(chunks), text: () => Buffer.concat(chunks).toString() };
}
