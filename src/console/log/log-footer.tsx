import { useEffect, useRef, useState } from 'preact/hooks';
import { choices } from '../choices.ts';
import { toCount, toSize } from '../words.ts';
import type { LogState } from '../worker/messages.ts';

/** Whether the output is followed, and how much there is of it. */
export function LogFooter({
  state,
  isFollowing,
  onFollow,
}: {
  readonly state: LogState | undefined;
  readonly isFollowing: boolean;
  readonly onFollow: () => void;
}) {
  const isEnded = state?.isEnded ?? false;
  return (
    <footer class="live">
      <button
        class="follow"
        type="button"
        aria-pressed={isFollowing}
        onClick={onFollow}
        disabled={isEnded && !isFollowing}
      >
        <span class="dot run" />
        {isEnded ? 'Ended' : isFollowing ? 'Following' : 'Follow'}
      </button>
      <span class="nums">
        <b>{toCount(state?.lines ?? 0)}</b> lines
      </span>
      <span class="nums">{toSize(state?.bytes ?? 0)}</span>
      {!isEnded && <Rate bytes={state?.bytes ?? 0} />}
      <span class="hint" aria-hidden="true">
        <kbd>f</kbd> follow <kbd>/</kbd> find <kbd>[</kbd>
        <kbd>]</kbd> command before, after <kbd>?</kbd> keys
      </span>
      <Spoken state={state} />
    </footer>
  );
}

// Bytes in the last second; nothing while there are none.
function Rate({ bytes }: { readonly bytes: number }) {
  const [rate, setRate] = useState(0);
  const latest = useRef(bytes);
  latest.current = bytes;
  useEffect(() => {
    let before = latest.current;
    const timer = setInterval(() => {
      setRate(latest.current - before);
      before = latest.current;
    }, 1_000);
    return () => clearInterval(timer);
  }, []);
  return rate > 0 ? <span class="nums">{toSize(rate)}/s</span> : null;
}

/** Reads new lines aloud, at most every two seconds; off until the reader asks for it. */
function Spoken({ state }: { readonly state: LogState | undefined }) {
  const [words, setWords] = useState('');
  const before = useRef(0);
  const latest = useRef(state);
  latest.current = state;
  useEffect(() => {
    if (!choices.value.speaks) return;
    const timer = setInterval(() => {
      const lines = latest.current?.lines ?? 0;
      if (lines > before.current) setWords(`${lines - before.current} lines`);
      before.current = lines;
    }, 2_000);
    return () => clearInterval(timer);
  }, [choices.value.speaks]);
  return (
    <p class="sr" role="log" aria-live="polite">
      {words}
    </p>
  );
}
