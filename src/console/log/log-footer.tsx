import { useEffect, useRef, useState } from 'preact/hooks';
import { toCount, toSize } from '../words.ts';
import { LineAnnouncement } from './line-announcement.tsx';
import type { ShownLog } from './use-log.ts';

/** The footer of a log: whether the output is followed, and its size. */
export function LogFooter({ shown, onFollow }: { readonly shown: ShownLog; readonly onFollow: () => void }) {
  const { state, isFollowing } = shown;
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
        <span class={`dot ${isEnded ? 'off' : 'run'}`} aria-hidden="true" />
        {isEnded ? 'Ended' : isFollowing ? 'Following' : 'Follow'}
      </button>
      <span class="nums">
        <b>{toCount(state?.count ?? 0)}</b> {state?.count === 1 ? 'line' : 'lines'}
        {state && !state.isCounted && ' in this part'}
      </span>
      <span class="nums">{toSize(state?.bytes ?? 0)}</span>
      {state?.isLive && <Rate bytes={state?.bytes ?? 0} />}
      <span class="hint" aria-hidden="true">
        <kbd>f</kbd> follow <kbd>/</kbd> find <kbd>[</kbd>
        <kbd>]</kbd> command before, after <kbd>?</kbd> keys
      </span>
      <LineAnnouncement shown={shown} />
    </footer>
  );
}

// The rate in bytes per second; not shown while it is 0.
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
