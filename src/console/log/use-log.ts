import type { RefObject } from 'preact';
import { useEffect, useRef, useState } from 'preact/hooks';
import type { CommandCard } from '../../contract/console.ts';
import { type LogHandle, openLog } from '../bridge.ts';
import { choices, wrapsLines } from '../choices.ts';
import { place } from '../router.ts';
import { isOpen } from '../store.ts';
import type { LogState } from '../worker/messages.ts';
import { Ring } from './ring.ts';

const keptBytes = 64 * 1_048_576;
// The ring paints every state; ten changes a second are enough for the numbers around it.
const wordsMs = 100;

/** An output on the screen. */
export interface ShownLog {
  readonly view: RefObject<HTMLDivElement | null>;
  readonly log: RefObject<LogHandle | null>;
  readonly ring: RefObject<Ring | null>;
  /** Updated at most ten times a second. */
  readonly state: LogState | undefined;
  readonly isFollowing: boolean;
  /** The lines that the reader has chosen, the first and the last. */
  readonly chosen: readonly [number, number] | undefined;
  choose(lines: readonly [number, number]): void;
  /** The line of the current match. */
  readonly current: number | undefined;
  setCurrent(line: number | undefined): void;
  /** Which 64 MB of a longer output are shown. */
  readonly keeps: 'first' | 'last';
  show(keeps: 'first' | 'last'): void;
}

/** Opens the output of a command, and shows it in the element of `view`. */
export function useLog(card: CommandCard): ShownLog {
  const view = useRef<HTMLDivElement>(null);
  const ring = useRef<Ring>(null);
  const log = useRef<LogHandle>(null);
  const [state, setState] = useState<LogState>();
  const [isFollowing, setFollowing] = useState(isOpen(card) && !place.value.query.has('at'));
  const [chosen, choose] = useState<readonly [number, number]>();
  const [current, setCurrent] = useState<number>();
  const [keeps, setKeeps] = useState<'first' | 'last'>('last');
  const show = (part: 'first' | 'last') => {
    setKeeps(part);
    setFollowing(part === 'last');
  };
  const isWrapped = wrapsLines();
  const { times } = choices.value;
  const startedAt = card.started_at === null ? undefined : Date.parse(card.started_at);
  const options = { isWrapped, times, startedAt, chosen, current };

  useEffect(() => {
    if (!view.current) return;
    const isLong = card.stdout_bytes + card.stderr_bytes > keptBytes;
    const mode = isLong && keeps === 'last' ? 'tail' : 'all';
    const tell = atMostEvery(wordsMs, setState);
    const handle = openLog(card.id, { from: 0, mode, keeps }, (next) => {
      ring.current?.update(next);
      tell(next);
    });
    const follow = { isOn: isFollowing, onChange: setFollowing };
    const own = new Ring(view.current, handle, options, follow);
    log.current = handle;
    ring.current = own;
    const resized = new ResizeObserver(() => own.measure());
    resized.observe(view.current);
    return () => {
      tell.cancel();
      resized.disconnect();
      own.close();
      handle.close();
    };
  }, [card.id, keeps]);
  useEffect(() => ring.current?.set(options), [isWrapped, times, startedAt, chosen, current]);
  return { view, ring, log, state, isFollowing, chosen, choose, current, setCurrent, keeps, show };
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
