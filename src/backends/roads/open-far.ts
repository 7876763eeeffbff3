// Opens a stream to the worker of another machine over a road that can run a program there:
// 1. `sh` there starts the loader with a Node that it finds, or asks for one, which is then uploaded once,
// 2. the loader requests the files of the worker unless a folder with their digest exists,
// 3. the loader becomes `worker.js attach`, whose stdin and stdout are the stream.
import type { Duplex } from 'node:stream';
import type { NacreError } from '../../contract/failure.ts';
import { randomHex } from '../../support/ids.ts';
import { settlesWithin } from '../../support/timing.ts';
import type { FarEnd, FarProgram } from '../../wire/road.ts';
import { type FarMessage, NoMessageError, readMessage } from './far-messages.ts';
import { evaluateLoader, putNodeScript, startScript } from './far-script.ts';
import { type FoundNode, findNode } from './find-node.ts';
import {
  cannotPrepare,
  cannotWrite,
  missingBash,
  missingNode,
  nodeDoesNotRun,
  nodeFailed,
  notAWorker,
} from './road-errors.ts';
import { readWorkerUpload } from './worker-files.ts';

/** A machine on which programs can be started. */
export interface RoadMachine {
  readonly name: string;
  /** Starts a program there; `large` if it will receive many bytes. */
  run(argv: readonly string[], large?: boolean): Promise<FarProgram>;
  /** The error for a program that ended before it sent anything. */
  explain(end: FarEnd): NacreError | undefined;
  /** Folders for the files of the worker: the first one that can be written is used. */
  readonly roots: readonly [string, ...string[]];
  /** Removes what was created for this connection, such as a container. */
  remove?(): Promise<void>;
}

/** Values of the server that every road needs. */
export interface FarDeps {
  /** dist/worker.js of this machine. */
  readonly program: string;
  readonly build: string;
  /** The server's environment, which programs such as `ssh` inherit. */
  readonly environment: Readonly<Record<string, string>>;
  /** The server's directory, which containers mount as workspace. */
  readonly cwd: string;
}

const answerMs = 9_000;
const uploadMs = 60_000;
const putNodeMs = 600_000;
const endMs = 1_000;

/** Connects to the worker of a machine; installs and starts the worker if necessary. */
export async function openFar(machine: RoadMachine, deps: FarDeps): Promise<Duplex> {
  const first = await tryToOpen(machine, deps);
  if ('stream' in first) return first.stream;
  await putNode(machine, findNode(machine.name, first.need, deps.environment));
  const second = await tryToOpen(machine, deps);
  if ('stream' in second) return second.stream;
  throw missingNode(machine.name, second.need);
}

type Attempt = { readonly stream: Duplex } | { readonly need: FarMessage };

async function tryToOpen(machine: RoadMachine, { program, build }: FarDeps): Promise<Attempt> {
  const upload = readWorkerUpload(program);
  const tag = newTag();
  const far = await machine.run([
    ...['sh', '-c', startScript, machine.roots[1] ?? 'nacre', evaluateLoader],
    ...[Buffer.from(upload.loader).toString('base64'), tag, upload.digest, String(upload.data.length), build],
    ...machine.roots,
  ]);
  return withProgram(machine, far, async (next) => {
    let message = await next(tag, answerMs);
    if (message.need === 'files') {
      far.stream.write(upload.data);
      message = await next(tag, uploadMs);
    }
    if (message.need === 'node') {
      far.stream.destroy();
      return { need: message };
    }
    if (message.ready) return { stream: far.stream };
    throw toError(machine, message);
  });
}

async function putNode(machine: RoadMachine, node: FoundNode): Promise<void> {
  let failure: unknown;
  for (const root of machine.roots) {
    const tag = newTag();
    const words = [tag, String(node.data.length), node.digest, root];
    const far = await machine.run(['sh', '-c', putNodeScript, 'nacre', ...words], true);
    try {
      await withProgram(machine, far, async (next) => {
        await next(tag, answerMs);
        far.stream.write(node.data);
        await next(tag, putNodeMs);
      });
      return;
    } catch (error) {
      failure ??= error;
    } finally {
      far.stream.destroy();
    }
  }
  throw failure;
}

type Next = (tag: string, withinMs: number) => Promise<FarMessage>;

// If no message comes, the exit code and stderr of the program explain why, so `ended` is awaited for up to `endMs`.
async function withProgram<T>(
  machine: RoadMachine,
  { stream, ended }: FarProgram,
  step: (next: Next) => Promise<T>,
): Promise<T> {
  // `readMessage` handles errors; without this listener, a later error would crash this process.
  stream.on('error', () => {});
  try {
    return await step((tag, withinMs) => readMessage(stream, tag, withinMs));
  } catch (error) {
    if (!(error instanceof NoMessageError)) {
      stream.destroy();
      throw error;
    }
    const hasEnded = await settlesWithin(ended, endMs);
    stream.destroy();
    const end = hasEnded ? await ended : { code: null, stderr: '' };
    if (end.code === nodeFailed) throw nodeDoesNotRun(machine.name, end);
    throw machine.explain(end) ?? notAWorker(machine.name, error, end);
  }
}

function toError({ name, roots }: RoadMachine, message: FarMessage): NacreError {
  if (message.error === 'no-bash') return missingBash(name);
  if (message.path !== undefined) return cannotWrite(name, roots[0], message);
  return cannotPrepare(name, message.message ?? message.error ?? 'its loader sent an unknown message');
}

function newTag(): string {
  return `nacre-road-${randomHex(16)}`;
}
