// `<run>.steps` says which steps were begun and which have ended, one line each, written before and after the step. A step
// that was begun and has no end was interrupted: whether it took effect is unknown.
import { closeSync, fsyncSync, writeSync } from 'node:fs';
import { z } from 'zod';
import { isAlive, ownIdentity } from '../support/process-identity.ts';
import { openRegularFile, readRegularFile } from '../support/regular-file.ts';

const journalLine = z.discriminatedUnion('event', [
  z.object({
    event: z.literal('run'),
    process: z.object({ boot: z.string(), namespace: z.string(), pid: z.number(), startTime: z.string() }),
  }),
  z.object({ event: z.literal('begun'), step: z.string(), written: z.string() }),
  z.object({ event: z.literal('ended'), step: z.string() }),
  z.object({ event: z.literal('closed') }),
]);
type JournalLine = z.output<typeof journalLine>;

/** The state of a run according to its journal. */
export interface JournalState {
  /** Steps without an end, with the digest of their definition. */
  readonly unknown: ReadonlyMap<string, string>;
  /** The pid of the process that is still working on the run, if it is known to be alive. */
  readonly workedOnBy: number | undefined;
}

/** Reads a journal; an incomplete line is ignored, because its step had not been started. */
export function readJournal(path: string): JournalState {
  const unknown = new Map<string, string>();
  let workedOnBy: number | undefined;
  for (const line of linesOf(path)) {
    if (line.event === 'run')
      workedOnBy = isAlive(line.process, path) === true ? line.process.pid : undefined;
    if (line.event === 'closed') workedOnBy = undefined;
    if (line.event === 'begun') unknown.set(line.step, line.written);
    if (line.event === 'ended') unknown.delete(line.step);
  }
  return { unknown, workedOnBy };
}

/** Records that this process works on the run. */
export function journalRun(path: string): void {
  append(path, { event: 'run', process: ownIdentity() });
}

/** Records a step that is about to start; `written` is the digest of its definition. */
export function journalBegun(path: string, step: string, written: string): void {
  append(path, { event: 'begun', step, written });
}

/** Records a step whose result is known. */
export function journalEnded(path: string, step: string): void {
  append(path, { event: 'ended', step });
}

/** Records that this process no longer works on the run. */
export function journalClosed(path: string): void {
  append(path, { event: 'closed' });
}

// Synced, because the effect of a step may outlive a power failure. The line break comes first, so that a line that was
// cut off by a kill does not corrupt the next one.
function append(path: string, line: JournalLine): void {
  const fd = openRegularFile(path, 'append');
  try {
    writeSync(fd, `\n${JSON.stringify(line)}`);
    fsyncSync(fd);
  } finally {
    closeSync(fd);
  }
}

function linesOf(path: string): readonly JournalLine[] {
  return readIfThere(path)
    .split('\n')
    .flatMap((text) => {
      try {
        return [journalLine.parse(JSON.parse(text))];
      } catch {
        return [];
      }
    });
}

// Runs of earlier versions have no journal.
function readIfThere(path: string): string {
  try {
    return readRegularFile(path);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return '';
    throw error;
  }
}
