import type { Cursor } from '../../contract/job.ts';
import type { Reading } from '../../engine/reading/read-command.ts';
import type { Io } from '../door.ts';
import { write } from '../say.ts';
import type { ReachedServer } from './reach-servers.ts';

/** How output is shown. */
export interface ShowOptions {
  readonly from: Cursor;
  readonly view: 'clean' | 'raw';
  /** Goes on until the command has ended. */
  readonly follow: boolean;
}

const pieceChars = 200_000;
const waitMs = 30_000;
// Matches as soon as there is anything.
const anything = '';

/** Prints what a command has printed, piece by piece, and tells how the command was then. */
export async function showOutput(
  server: ReachedServer,
  id: string,
  { stdout, interrupted }: Pick<Io, 'stdout' | 'interrupted'>,
  { from, view, follow }: ShowOptions,
): Promise<Reading['state']> {
  for (let cursor = from; ; ) {
    const waiting = { waitMs: follow ? waitMs : 0, waitFor: anything };
    const query = { ...waiting, cursor, maxChars: pieceChars, keep: 'beginning', view } as const;
    const reading = (await server.call({ method: 'read', id, query })) as Reading;
    await write(stdout, reading.stdout + reading.stderr, interrupted);
    const isAtEnd = reading.next === cursor;
    if (isAtEnd && (!follow || reading.state.end)) return reading.state;
    cursor = reading.next;
  }
}
