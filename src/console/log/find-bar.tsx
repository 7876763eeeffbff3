import type { RefObject } from 'preact';
import { useEffect, useLayoutEffect, useRef, useState } from 'preact/hooks';
import { onKeys } from '../keys.ts';
import { Icon } from '../parts/icon.tsx';
import { toCount } from '../words.ts';
import type { LogState } from '../worker/messages.ts';
import type { ShownLog } from './use-log.ts';

/** Finds words or a pattern in an output, and steps through the matches. */
export function FindBar({
  shown,
  field,
}: {
  readonly shown: ShownLog;
  readonly field: RefObject<HTMLInputElement | null>;
}) {
  const { query, index, find, step } = useFind(shown);
  useLayoutEffect(() =>
    onKeys({
      n: () => void step(1),
      N: () => void step(-1),
      '/': () => field.current?.focus(),
    }),
  );
  return (
    <div class="find">
      <Icon name="search" />
      <label class="sr" for="find">
        Find in the output
      </label>
      <input
        id="find"
        ref={field}
        type="search"
        placeholder="Find, or /pattern/"
        autocomplete="off"
        spellcheck={false}
        value={query}
        onInput={(event) => find(event.currentTarget.value)}
        onKeyDown={(event) => {
          if (event.key === 'Enter') void step(event.shiftKey ? -1 : 1);
          if (event.key === 'Escape') event.currentTarget.blur();
        }}
      />
      <output class="hits" aria-live="polite" title={shown.state?.isWhole ? undefined : partTitle}>
        {toHits(shown.state, query, index)}
      </output>
      <button type="button" class="mini" aria-label="Previous match" onClick={() => void step(-1)}>
        <Icon name="up" />
      </button>
      <button type="button" class="mini" aria-label="Next match" onClick={() => void step(1)}>
        <Icon name="down" />
      </button>
    </div>
  );
}

const partTitle = 'Here: in the part of the output that this page keeps.';

function useFind({ log, ring, state, setCurrent }: ShownLog) {
  const [query, setQuery] = useState('');
  const [index, setIndex] = useState<number>();
  // A step that the user requested before the first match was found; `step` runs once there is a match.
  const wantedStep = useRef<1 | -1>(undefined);
  useEffect(() => {
    const by = wantedStep.current;
    if (by !== undefined && (state?.found ?? 0) > 0) void step(by);
  }, [state?.found]);
  const find = (text: string) => {
    setQuery(text);
    setIndex(undefined);
    setCurrent(undefined);
    wantedStep.current = undefined;
    log.current?.find(text);
    ring.current?.forget();
  };
  const step = async (by: 1 | -1) => {
    const found = state?.found ?? 0;
    if (!log.current || !ring.current || query === '') return;
    wantedStep.current = by;
    if (found === 0) return;
    const next =
      index === undefined
        ? await log.current.matchFrom(ring.current.firstLine, false, by)
        : (index + by + found) % found;
    // `found` is still the count of the previous query.
    if (next < 0) return;
    wantedStep.current = undefined;
    const line = await log.current.match(next);
    setIndex(next);
    setCurrent(line);
    await ring.current.show(line);
  };
  return { query, index, find, step };
}

function toHits(state: LogState | undefined, query: string, index: number | undefined): string {
  if (query === '' || !state) return '';
  if (state.queryError !== null) return state.queryError;
  const here = state.isWhole ? '' : ' here';
  if (state.found === 0) return state.isSearched ? `none${here}` : '…';
  const found = `${toCount(state.found)}${here}`;
  return index === undefined ? found : `${toCount(index + 1)} of ${found}`;
}
