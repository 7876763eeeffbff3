import type { Cursor } from '../../contract/job.ts';
import type { Reading } from '../../engine/reading/read-command.ts';
import type { ReachedServer } from '../../servers/reach-servers.ts';
import type { Io } from '../door.ts';
import { print } from '../print.ts';

/** Options of `showOutput`. */
export interface ShowOptions {
  readonly from: Cursor;
  readonly view: 'clean' | 'raw';
  /** Continues until the command has ended. */
  readonly follow: boolean;
}

const pieceChars = 200_000;
const waitMs = 30_000;
// An empty `waitFor` matches as soon as there is any output.
const anyOutput = '';

/** Prints the output of a command, piece by piece; returns its last state. */
export async function showOutput(
  server: ReachedServer,
  id: string,
  { stdout, interrupted }: Pick<Io, 'stdout' | 'interrupted'>,
  { from, view, follow }: ShowOptions,
): Promise<Reading['state']> {
  for (let cursor = from; ; ) {
    const wait = { waitMs: follow ? waitMs : 0, waitFor: anyOutput };
    const query = { ...wait, cursor, maxChars: pieceChars, keep: 'beginning', view } as const;
    const reading = (await server.call({ method: 'read', id, query })) as Reading;
    await print(stdout, reading.stdout + reading.stderr, interrupted);
    const isAtEnd = reading.next === cursor;
    if (isAtEnd && (!follow || reading.state.end)) return reading.state;
    cursor = reading.next;
  }
}
