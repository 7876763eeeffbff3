import { useEffect, useRef, useState } from 'preact/hooks';
import { choices } from '../choices.ts';
import { toAmount } from '../words.ts';
import type { ShownLog } from './use-log.ts';

const everyMs = 2_000;
const longestLine = 200;

/**
 * Has screen readers announce new lines, at most every two seconds: their number and the last one. Off until the user
 * turns it on.
 */
export function LineAnnouncement({ shown }: { readonly shown: ShownLog }) {
  const [words, setWords] = useState('');
  const latest = useRef(shown);
  latest.current = shown;
  const isOn = choices.value.speaks;
  useEffect(() => {
    if (!isOn) return;
    let before = latest.current.state?.arrived ?? 0;
    const timer = setInterval(() => {
      const { log, state } = latest.current;
      const { arrived = 0, lines = 0 } = state ?? {};
      const fresh = arrived - before;
      before = arrived;
      if (fresh > 0)
        void log.current
          ?.text(lines - 1, lines)
          .then((text) => setWords(`${toAmount(fresh, 'line')}, last: ${text.slice(0, longestLine)}`));
    }, everyMs);
    return () => clearInterval(timer);
  }, [isOn]);
  return (
    <p class="sr" role="log" aria-live="polite">
      {words}
    </p>
  );
}
