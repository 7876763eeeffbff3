// Finds the output of a command: in this server, another server, the worker that keeps it, or a recording.
import type { IndexedCommand } from '../../../audit/command-index.ts';
import { NacreError } from '../../../contract/failure.ts';
import type { Engine } from '../../../engine/engine.ts';
import type { Cast } from '../../../recordings/asciicast.ts';
import { hasRecording, readRecording } from '../../../recordings/recordings.ts';
import { localUser } from '../../../servers/control-call.ts';
import { MarkList } from '../../../support/mark-list.ts';
import type { ReadLog } from '../../../support/tail.ts';
import { type CommandPlaces, openRemoteLog } from './servers.ts';

/** Dependencies of `openOutput`. */
export interface OutputDeps extends CommandPlaces {
  readonly engine: () => Promise<Engine>;
  readonly recordingDir: string;
}

/** The output of a command that can be read. */
export interface OpenOutput {
  readonly source: 'live' | 'recorded';
  /** True for the log of a command of this server; other logs have a connection of their own. */
  readonly isOwn: boolean;
  readonly read: ReadLog;
  close(): void;
}

/** Finds the output of a command; throws `job_not_found` with a hint if it is gone. */
export async function openOutput(deps: OutputDeps, command: IndexedCommand): Promise<OpenOutput> {
  const { id } = command;
  const engine = await deps.engine();
  try {
    if (await hasCommand(engine, id)) {
      const read: ReadLog = (from, query) => engine.readBytes(id, from, query, localUser);
      return { source: 'live', isOwn: true, read, close() {} };
    }
    const remote = await openRemoteLog(deps, command);
    await remote.read(0, { waitMs: 0, maxBytes: 0 }).catch((error: unknown) => {
      remote.close();
      throw error;
    });
    return { source: 'live', isOwn: false, ...remote };
  } catch (error) {
    if (hasRecording(deps.recordingDir, id)) return fromRecording(deps.recordingDir, id);
    throw error instanceof NacreError && error.code !== 'job_not_found' ? error : outputGone(id);
  }
}

/** Whether this server has a command, because it has started it or taken it up. */
export async function hasCommand(engine: Engine, id: string): Promise<boolean> {
  const nothing = { waitMs: 0, maxBytes: 0 };
  return engine.readBytes(id, 0, nothing, localUser).then(
    () => true,
    () => false,
  );
}

/** Whether the output of a command can still be read. */
export async function findOutputSource(
  deps: OutputDeps,
  command: IndexedCommand,
): Promise<'live' | 'recorded' | 'gone'> {
  try {
    const { source, close } = await openOutput(deps, command);
    close();
    return source;
  } catch {
    return 'gone';
  }
}

// A recording has both streams in one.
function fromRecording(dir: string, id: string): OpenOutput {
  const { bytes, marks } = toLog(readRecording(dir, id));
  const read: ReadLog = async (from, { maxBytes }) => {
    const data = bytes.subarray(from, from + maxBytes);
    const next = from + data.length;
    const chunks = data.length > 0 ? [{ stream: 'stdout' as const, data }] : [];
    return { chunks, next, end: bytes.length, final: true, marks: marks.between(from, next) };
  };
  return { source: 'recorded', isOwn: false, read, close() {} };
}

/** The output events of a recording as bytes, with the times at which they were printed. */
function toLog({ events }: Cast): { readonly bytes: Uint8Array; readonly marks: MarkList } {
  const marks = new MarkList();
  const pieces: Buffer[] = [];
  let [seconds, cursor] = [0, 0];
  for (const { after, code, data } of events) {
    seconds += after;
    if (code !== 'o') continue;
    const piece = Buffer.from(data);
    marks.push({ cursor, ms: Math.round(seconds * 1_000) });
    pieces.push(piece);
    cursor += piece.length;
  }
  return { bytes: Buffer.concat(pieces), marks };
}

function outputGone(id: string): NacreError {
  return new NacreError('job_not_found', `The output of ${id} is gone.`, {
    hint: 'Output is kept for tombstone_seconds after the end, an hour by default; the setting record keeps it longer.',
  });
}
