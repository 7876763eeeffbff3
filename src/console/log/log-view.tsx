import { useEffect, useLayoutEffect, useRef, useState } from 'preact/hooks';
import type { CommandCard } from '../../contract/console.ts';
import { isOpen } from '../card-states.ts';
import { choices, wrapsLines } from '../choices.ts';
import { onKeys } from '../keys.ts';
import { toCount, toSize } from '../words.ts';
import { showOdd } from '../worker/visible-text.ts';
import { FindBar } from './find-bar.tsx';
import { LogFooter } from './log-footer.tsx';
import { LogTools } from './log-tools.tsx';
import { Ruler } from './ruler.tsx';
import { useChosenLines } from './use-chosen-lines.ts';
import { type ShownLog, useLog } from './use-log.ts';

/** The output of a command: follow, find, errors, times, wrapping, links to lines, copy and download. */
export function LogView({ card }: { readonly card: CommandCard }) {
  const field = useRef<HTMLInputElement>(null);
  const shown = useLog(card);
  const { state, view, ring } = shown;
  const lines = useChosenLines(card, shown);
  const fresh = useFreshLines(shown);
  const isWrapped = wrapsLines();
  const follow = () => {
    // The loaded part does not include the newest lines, so the output is reopened at its end.
    if (state && !state.isLive && !state.isEnded) shown.show('end');
    else ring.current?.follow(!ring.current.isFollowing);
  };
  useLayoutEffect(() => onKeys({ f: follow }));
  // Ctrl-F focuses this field; a second press, while it has the focus, opens the search of the browser.
  const findHere = (event: KeyboardEvent) => {
    if (!(event.ctrlKey || event.metaKey) || event.key !== 'f') return;
    event.preventDefault();
    field.current?.focus();
  };
  const classes = ['log', isWrapped ? 'wrapped' : '', choices.value.times === 'off' ? 'no-times' : ''];
  return (
    <>
      <div class="bar log-bar">
        <FindBar shown={shown} field={field} />
        <LogTools card={card} shown={shown} />
      </div>
      <LeftOut card={card} shown={shown} />
      <div class="log-wrap">
        {/* biome-ignore lint/a11y/useSemanticElements: a section cannot be a child that the ring fills */}
        <div
          class={classes.filter(Boolean).join(' ')}
          ref={view}
          // biome-ignore lint/a11y/noNoninteractiveTabindex: a region that scrolls has to be reachable by keyboard
          tabIndex={0}
          role="region"
          aria-label={`Output of ${showOdd(card.command.slice(0, 80))}`}
          onClick={lines.onClick}
          onKeyDown={(event) => {
            findHere(event);
            lines.onKeyDown(event);
          }}
        />
        <Ruler state={state} view={view} />
        {state?.error && <p class="log-empty">{state.error}</p>}
        {state !== undefined && state.error === null && state.lines === 0 && (
          <p class="log-empty">{state.isEnded ? 'It printed nothing.' : 'Nothing printed yet.'}</p>
        )}
        {fresh > 0 && (
          <button type="button" class="pill" onClick={follow}>
            {toCount(fresh)} {fresh === 1 ? 'new line' : 'new lines'}
          </button>
        )}
      </div>
      <LogFooter shown={shown} onFollow={follow} />
    </>
  );
}

// Lines that arrived since the user scrolled up.
function useFreshLines({ state, isFollowing }: ShownLog): number {
  const [seen, setSeen] = useState(0);
  const arrived = state?.arrived ?? 0;
  useEffect(() => setSeen(arrived), [isFollowing, state === undefined]);
  return isFollowing || !state?.isLive ? 0 : Math.max(0, arrived - seen);
}

/** Shows which part of a long output is loaded, with buttons for its beginning and end. */
function LeftOut({ card, shown }: { readonly card: CommandCard; readonly shown: ShownLog }) {
  const { state, show } = shown;
  if (!state || state.isWhole || state.error !== null || state.end === 0) return null;
  const { firstCursor, end, bytes, skippedBytes } = state;
  const total = Math.max(bytes, card.stdout_bytes + card.stderr_bytes);
  return (
    <p class="notice left-out">
      {skippedBytes > 0 &&
        isOpen(card) &&
        `${toSize(skippedBytes)} were skipped because the command printed faster than this page could read. `}
      Showing {toSize(end - firstCursor)} of {toSize(total)}; the rest is fetched as you scroll.{' '}
      <button class="as-link" type="button" onClick={() => show(0)}>
        Show the beginning
      </button>{' '}
      <button class="as-link" type="button" onClick={() => show('end')}>
        Show the end
      </button>{' '}
      <a href={`/api/commands/${card.id}/output?download`} download={`${card.id}.log`}>
        Download everything
      </a>
    </p>
  );
}
