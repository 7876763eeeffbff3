import { useEffect, useRef } from 'preact/hooks';
import type { CommandCard } from '../../contract/console.ts';
import { place } from '../router.ts';
import type { ShownLog } from './use-log.ts';

/**
 * Lines that the address names: `at` and `to` are byte positions in the first and the last one. Returns a listener for
 * clicks on line numbers; Shift chooses a range.
 */
export function useChosenLines(card: CommandCard, shown: ShownLog): (event: MouseEvent) => void {
  useLinesOfAddress(shown);
  return (event) => {
    const link = (event.target as Element).closest<HTMLElement>('a.no');
    const log = shown.log.current;
    if (!link || !log) return;
    event.preventDefault();
    const line = Number(link.dataset.line);
    const begin = event.shiftKey ? (shown.chosen?.[0] ?? line) : line;
    const lines = [Math.min(begin, line), Math.max(begin, line)] as const;
    shown.choose(lines);
    void Promise.all(lines.map((one) => log.cursorOf(one))).then(([at, to]) => {
      const range = at === to ? '' : `&to=${to}`;
      history.replaceState(null, '', `/commands/${card.id}?at=${at}${range}`);
    });
  };
}

// A line of the address is there once its bytes have arrived.
function useLinesOfAddress({ state, log, ring, choose, show }: ShownLog): void {
  const isDone = useRef(false);
  useEffect(() => {
    const { query } = place.value;
    const at = Number(query.get('at') ?? Number.NaN);
    const to = Math.max(at, Number(query.get('to') ?? at));
    if (Number.isNaN(at) || isDone.current || !state || !(state.isEnded || state.end > to)) return;
    if (at < state.firstCursor) {
      show(at);
      return;
    }
    isDone.current = true;
    const lines = Promise.all([log.current?.lineAtCursor(at), log.current?.lineAtCursor(to)]);
    void lines.then(([first = 0, last = first]) => {
      choose([first, last]);
      return ring.current?.show(first);
    });
  }, [state]);
}
