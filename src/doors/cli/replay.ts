// `nacre replay`: what a command printed, with its original timing or faster.
import { NacreError } from '../../contract/failure.ts';
import { type Cast, toEventLine, toHeaderLine, toVersion2 } from '../../recordings/asciicast.ts';
import { readRecording } from '../../recordings/recordings.ts';
import { sleep } from '../../support/timing.ts';
import type { Arguments, FlagAccess, Io, IoAccess, PlaceAccess } from '../door.ts';
import { failedExit, interruptedExit } from '../exit-codes.ts';
import { print, toErrorText } from '../print.ts';

interface Flags {
  readonly speed: number;
  readonly maxPauseMs?: number | undefined;
  readonly export?: 'v2' | 'v3' | undefined;
}

type ReplayDeps = FlagAccess<Flags> & IoAccess & Arguments & PlaceAccess;

/** Plays the recording of a command, or prints it (`--export`). */
export async function replayDoor(deps: ReplayDeps): Promise<number> {
  const { io, words, flags, places } = deps;
  const { speed, maxPauseMs, export: form } = flags;
  try {
    const cast = readRecording(places.recordingDir, onlyId(words));
    if (form === undefined)
      return await play(io, cast, { speed, maxPauseMs: maxPauseMs ?? Number.POSITIVE_INFINITY });
    await print(io.stdout, form === 'v2' ? toVersion2(cast) : toVersion3(cast), io.interrupted);
    return 0;
  } catch (error) {
    await print(io.stderr, toErrorText(error));
    return failedExit;
  }
}

function onlyId([id, ...more]: readonly string[]): string {
  if (id !== undefined && more.length === 0) return id;
  throw new NacreError('invalid_request', 'nacre replay expects one command id.', {
    hint: 'Run nacre history to see ids.',
  });
}

async function play(
  { stdout, interrupted }: Io,
  { events }: Cast,
  options: { speed: number; maxPauseMs: number },
): Promise<number> {
  for (const { after, code, data } of events) {
    await sleep(Math.min((after * 1_000) / options.speed, options.maxPauseMs, maxTimerMs), interrupted);
    if (interrupted.aborted) return interruptedExit;
    if (code === 'o') await print(stdout, data, interrupted);
  }
  return 0;
}

// The longest delay of `setTimeout`; a larger one fires immediately.
const maxTimerMs = 2_147_483_647;

function toVersion3({ header, events }: Cast): string {
  return `${toHeaderLine(header)}${events.map(toEventLine).join('')}`;
}
