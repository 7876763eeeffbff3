import { useEffect, useRef } from 'preact/hooks';
import type { CommandCard } from '../../contract/console.ts';
import { place } from '../router.ts';
import type { ShownLog } from './use-log.ts';

/** Listeners for the element of the log. */
interface LineListeners {
  onClick(event: MouseEvent): void;
  onKeyDown(event: KeyboardEvent): void;
}

/**
 * Lines that the address names: `at` and `to` are byte positions in the first and the last one. Returns listeners that
 * choose others: a click on a line number, or Shift with the arrow keys; Shift with a click chooses a range.
 */
export function useChosenLines(card: CommandCard, shown: ShownLog): LineListeners {
  // `from` stays while `to` moves.
  const range = useRef<{ readonly from: number; readonly to: number }>(undefined);
  useLinesOfAddress(shown);
  const choose = (from: number, to: number) => {
    range.current = { from, to };
    const lines = [Math.min(from, to), Math.max(from, to)] as const;
    shown.choose(lines);
    void writeAddress(card, shown, lines);
  };
  return {
    onClick(event) {
      const link = (event.target as Element).closest<HTMLElement>('a.no');
      if (!link) return;
      event.preventDefault();
      const line = Number(link.dataset.line);
      choose(event.shiftKey ? (shown.chosen?.[0] ?? line) : line, line);
    },
    onKeyDown(event) {
      const by = event.shiftKey ? steps[event.key] : undefined;
      const { view, ring } = shown;
      const state = ring.current?.state;
      if (by === undefined || !view.current || !state || state.lines === 0) return;
      event.preventDefault();
      const rows = listRows(view.current);
      const [first = state.firstLine, last = first] = [rows[0], rows.at(-1)];
      const { from, to } = startOf(range.current, shown.chosen);
      // The user does not want to extend a range that is scrolled out of view.
      if (to < first || to > last) return choose(by > 0 ? first : last, by > 0 ? first : last);
      const next = Math.max(state.firstLine, Math.min(state.lines - 1, to + by));
      choose(from, next);
      if (next < first || next > last) void ring.current?.show(next);
    },
  };
}

const steps: Readonly<Record<string, number>> = { ArrowUp: -1, ArrowDown: 1 };

// Lines can also be chosen by the page's address or as the next error, so `range` may contain other lines.
function startOf(
  range: { readonly from: number; readonly to: number } | undefined,
  chosen: ShownLog['chosen'],
): { readonly from: number; readonly to: number } {
  if (chosen === undefined) return { from: -1, to: -1 };
  const [from, to] = chosen;
  const isSame = range && Math.min(range.from, range.to) === from && Math.max(range.from, range.to) === to;
  return isSame ? range : { from, to };
}

// The lines that are completely visible.
function listRows(view: HTMLElement): readonly number[] {
  const { top, bottom } = view.getBoundingClientRect();
  return [...view.querySelectorAll<HTMLElement>('.ln:not(.none)')]
    .filter((row) => {
      const box = row.getBoundingClientRect();
      return box.top >= top - 1 && box.bottom <= bottom + 1;
    })
    .map((row) => Number(row.querySelector<HTMLElement>('a.no')?.dataset.line));
}

async function writeAddress(card: CommandCard, { log }: ShownLog, [first, last]: readonly [number, number]) {
  const [at, to] = await Promise.all([log.current?.cursorOf(first), log.current?.cursorOf(last)]);
  const range = at === to ? '' : `&to=${to}`;
  history.replaceState(history.state, '', `/commands/${card.id}?at=${at}${range}`);
}

// A line in the address can be shown once its bytes have arrived.
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
