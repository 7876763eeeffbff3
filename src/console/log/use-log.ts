import type { RefObject } from 'preact';
import { useEffect, useRef, useState } from 'preact/hooks';
import type { CommandCard } from '../../contract/console.ts';
import { type LogHandle, openLog } from '../bridge.ts';
import { isOpen } from '../card-states.ts';
import { choices, wrapsLines } from '../choices.ts';
import { place } from '../router.ts';
import { keptBytes } from '../worker/log-store.ts';
import type { LogOptions, LogState } from '../worker/messages.ts';
import { Ring } from './ring.ts';

// The ring paints every state; ten changes a second are enough for the numbers around it.
const wordsMs = 100;

/** The output that a page shows. */
export interface ShownLog {
  readonly view: RefObject<HTMLDivElement | null>;
  readonly log: RefObject<LogHandle | null>;
  readonly ring: RefObject<Ring | null>;
  /** Updated at most ten times a second. */
  readonly state: LogState | undefined;
  readonly isFollowing: boolean;
  /** The first and the last line that the user has chosen. */
  readonly chosen: readonly [number, number] | undefined;
  choose(lines: readonly [number, number]): void;
  /** The line of the current match. */
  readonly current: number | undefined;
  setCurrent(line: number | undefined): void;
  /** Reopens the output at a cursor, or at its end; for outputs that are too long to keep. */
  show(at: number | 'end'): void;
}

/** The cursor at which the output was opened. */
interface Opened {
  readonly at: number | 'end';
  /** Incremented by every `show`, so that the output can be reopened at the same cursor. */
  readonly count: number;
}

// Bytes before the wanted cursor that are also fetched, so that the preceding lines are visible.
const contextBytes = 65_536;

/** Opens the output of a command, and shows it in the element of `view`. */
export function useLog(card: CommandCard): ShownLog {
  const view = useRef<HTMLDivElement>(null);
  const ring = useRef<Ring>(null);
  const log = useRef<LogHandle>(null);
  const [state, setState] = useState<LogState>();
  const [isFollowing, setFollowing] = useState(isOpen(card) && !place.value.query.has('at'));
  const [chosen, choose] = useState<readonly [number, number]>();
  const [current, setCurrent] = useState<number>();
  const [opened, setOpened] = useState<Opened>({ at: toFirstCursor(card), count: 0 });
  const show = (at: number | 'end') => {
    setOpened(({ count }) => ({ at, count: count + 1 }));
    setFollowing(at === 'end');
  };
  const isWrapped = wrapsLines();
  const { times } = choices.value;
  const startedAt = card.started_at === null ? undefined : Date.parse(card.started_at);
  const options = { isWrapped, times, startedAt, chosen, current };

  useEffect(() => {
    if (!view.current) return;
    const setStateSlowly = atMostEvery(wordsMs, setState);
    const handle = openLog(card.id, toOptions(card, opened), (next) => {
      ring.current?.update(next);
      setStateSlowly(next);
    });
    const follow = { isOn: isFollowing, onChange: setFollowing };
    const own = new Ring(view.current, handle, options, follow);
    log.current = handle;
    ring.current = own;
    const resized = new ResizeObserver(() => own.measure());
    resized.observe(view.current);
    return () => {
      setStateSlowly.cancel();
      resized.disconnect();
      own.close();
      handle.close();
    };
  }, [card.id, opened]);
  useEffect(() => ring.current?.set(options), [isWrapped, times, startedAt, chosen, current]);
  return { view, ring, log, state, isFollowing, chosen, choose, current, setCurrent, show };
}

const isLong = (card: CommandCard) => card.stdout_bytes + card.stderr_bytes > keptBytes;

// A short output is fetched whole. A long one is opened at the line in the address; without one, at its end while the command runs, and
// at its beginning afterwards.
function toFirstCursor(card: CommandCard): number | 'end' {
  const at = Number(place.value.query.get('at') ?? Number.NaN);
  if (!isLong(card)) return 'end';
  return at >= 0 ? at : isOpen(card) ? 'end' : 0;
}

function toOptions(card: CommandCard, { at }: Opened): LogOptions {
  if (at === 'end') return { from: 0, mode: isLong(card) ? 'tail' : 'all' };
  return { from: Math.max(0, at - contextBytes), mode: 'part' };
}

// Throttles calls of `pass`; the latest value is always passed in the end.
function atMostEvery<Value>(ms: number, pass: (value: Value) => void) {
  let latest: Value;
  let timer: ReturnType<typeof setTimeout> | undefined;
  let lastAt = -ms;
  const now = () => {
    timer = undefined;
    lastAt = performance.now();
    pass(latest);
  };
  const give = (value: Value) => {
    latest = value;
    if (timer !== undefined) return;
    const wait = lastAt + ms - performance.now();
    if (wait <= 0) now();
    else timer = setTimeout(now, wait);
  };
  return Object.assign(give, { cancel: () => clearTimeout(timer) });
}
