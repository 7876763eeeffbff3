import { useEffect, useLayoutEffect, useRef, useState } from 'preact/hooks';
import type { CommandCard } from '../../contract/console.ts';
import { type LogHandle, openLog } from '../bridge.ts';
import { choices, choose, wrapsLines } from '../choices.ts';
import { onKeys } from '../keys.ts';
import { Icon } from '../parts/icon.tsx';
import { notify } from '../parts/toast.tsx';
import { place } from '../router.ts';
import { isOpen } from '../store.ts';
import { toCount, toSize } from '../words.ts';
import type { LogState } from '../worker/messages.ts';
import { Ring } from './ring.ts';
import { Ruler } from './ruler.tsx';

const tailBytes = 64 * 1_048_576;

/** The output of a command: follow, find, errors, times, wrapping, links to lines, copy and download. */
export function LogView({ card }: { readonly card: CommandCard }) {
  const view = useRef<HTMLDivElement>(null);
  const field = useRef<HTMLInputElement>(null);
  const ring = useRef<Ring>(undefined);
  const log = useRef<LogHandle>(undefined);
  const [state, setState] = useState<LogState>();
  const [isFollowing, setFollowing] = useState(isOpen(card) && !place.value.query.has('at'));
  const [query, setQuery] = useState('');
  const [match, setMatch] = useState<{ readonly index: number; readonly line: number }>();
  const [chosen, setChosen] = useState<readonly [number, number]>();
  const [seen, setSeen] = useState(0);
  const [view2, setView] = useState(0);
  const isWrapped = wrapsLines();
  const { times } = choices.value;
  const startedAt = card.started_at === null ? undefined : Date.parse(card.started_at);
  const options = { isWrapped, times, startedAt, chosen, current: match?.line };

  useEffect(() => {
    if (!view.current) return;
    const size = card.stdout_bytes + card.stderr_bytes;
    const handle = openLog(card.id, { from: 0, mode: size > tailBytes ? 'tail' : 'all' }, (next) => {
      setState(next);
      ring.current?.update(next);
    });
    const own = new Ring(view.current, handle, options, { isOn: isFollowing, onChange: setFollowing });
    log.current = handle;
    ring.current = own;
    const resized = new ResizeObserver(() => own.measure());
    resized.observe(view.current);
    const scrolled = () => setView(view.current?.scrollTop ?? 0);
    view.current.addEventListener('scroll', scrolled, { passive: true });
    return () => {
      resized.disconnect();
      own.close();
      handle.close();
    };
  }, [card.id]);
  useEffect(() => ring.current?.set(options), [isWrapped, times, startedAt, chosen, match]);
  useEffect(() => {
    if (isFollowing) setSeen(state?.lines ?? 0);
  }, [isFollowing, state?.lines]);

  // The line of the address is there once its byte has arrived.
  const isAtLine = useRef(false);
  useEffect(() => {
    const at = place.value.query.get('at');
    if (at === null || isAtLine.current || !state || !(state.isEnded || state.bytes > Number(at))) return;
    isAtLine.current = true;
    void log.current?.lineAtCursor(Number(at)).then((line) => {
      setChosen([line, line]);
      return ring.current?.show(line);
    });
  }, [state]);

  // A step that was asked for before the search has found anything; it is taken at the first match.
  const wantedStep = useRef<1 | -1>(undefined);
  useEffect(() => {
    const by = wantedStep.current;
    if (by !== undefined && (state?.found ?? 0) > 0) void step(by);
  }, [state?.found]);

  const find = (text: string) => {
    setQuery(text);
    setMatch(undefined);
    wantedStep.current = undefined;
    log.current?.find(text);
    ring.current?.forget();
  };
  const step = async (by: 1 | -1) => {
    const found = state?.found ?? 0;
    if (!log.current || !ring.current || query === '') return;
    wantedStep.current = by;
    if (found === 0) return;
    const index = match
      ? (match.index + by + found) % found
      : await log.current.matchFrom(ring.current.firstLine, false, by);
    // `found` was of the query before this one.
    if (index < 0) return;
    wantedStep.current = undefined;
    const line = await log.current.match(index);
    setMatch({ index, line });
    await ring.current.show(line);
  };
  const toError = async (by: 1 | -1) => {
    if (!log.current || !ring.current) return;
    const from = chosen?.[0] ?? ring.current.firstLine;
    const line = await log.current.matchFrom(from, true, by);
    if (line < 0) return;
    setChosen([line, line]);
    await ring.current.show(line);
  };
  const follow = () => ring.current?.follow(!ring.current.isFollowing);
  const copyOutput = async () => {
    const text =
      (await log.current?.text(chosen?.[0] ?? 0, chosen ? chosen[1] + 1 : (state?.lines ?? 0))) ?? '';
    await navigator.clipboard.writeText(text);
    notify(chosen ? 'The chosen lines are copied.' : 'The output is copied.');
  };
  const nextTimes = { since: 'clock', clock: 'off', off: 'since' } as const;
  useLayoutEffect(() =>
    onKeys({
      f: follow,
      n: () => void step(1),
      N: () => void step(-1),
      e: () => void toError(1),
      E: () => void toError(-1),
      t: () => choose({ times: nextTimes[times] }),
      w: () => choose({ wrap: !isWrapped }),
      '/': () => field.current?.focus(),
    }),
  );
  const clicked = (event: MouseEvent) => {
    const link = (event.target as Element).closest<HTMLElement>('a.no');
    if (!link) return;
    event.preventDefault();
    const line = Number(link.dataset.line);
    const range =
      event.shiftKey && chosen ? [Math.min(chosen[0], line), Math.max(chosen[0], line)] : [line, line];
    setChosen([range[0] ?? line, range[1] ?? line]);
    const cursor = link.dataset.cursor ?? '0';
    history.replaceState(null, '', `/commands/${card.id}?at=${cursor}`);
  };
  const fresh = isFollowing || state?.isEnded ? 0 : Math.max(0, (state?.lines ?? 0) - seen);
  return (
    <>
      <div class="bar log-bar">
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
          <output class="hits" aria-live="polite">
            {toHits(state, query, match?.index)}
          </output>
          <button type="button" class="mini" aria-label="Previous match" onClick={() => void step(-1)}>
            <Icon name="up" />
          </button>
          <button type="button" class="mini" aria-label="Next match" onClick={() => void step(1)}>
            <Icon name="down" />
          </button>
        </div>
        <div class="tools">
          {(state?.errors ?? 0) > 0 && (
            <button class="chip bad" type="button" onClick={() => void toError(1)}>
              <b>{toCount(state?.errors ?? 0)}</b> {state?.errors === 1 ? 'error line' : 'error lines'}{' '}
              <kbd>e</kbd>
            </button>
          )}
          <button
            class="icon-btn"
            type="button"
            aria-pressed={times !== 'off'}
            aria-label={`Times: ${times === 'since' ? 'since the start' : times}`}
            title="Times (t)"
            onClick={() => choose({ times: nextTimes[times] })}
          >
            <Icon name="clock" />
          </button>
          <button
            class="icon-btn"
            type="button"
            aria-pressed={isWrapped}
            aria-label="Wrap lines"
            title="Wrap lines (w)"
            onClick={() => choose({ wrap: !isWrapped })}
          >
            <Icon name="wrap" />
          </button>
          <button
            class="icon-btn"
            type="button"
            aria-label={chosen ? 'Copy the chosen lines' : 'Copy the output'}
            title="Copy"
            onClick={() => void copyOutput()}
          >
            <Icon name="copy" />
          </button>
          <a
            class="icon-btn"
            href={`/api/commands/${card.id}/output?download`}
            download={`${card.id}.log`}
            aria-label="Download the output"
            title="Download"
          >
            <Icon name="download" />
          </a>
        </div>
      </div>
      {state !== undefined && state.skippedBytes > 0 && (
        <p class="notice">
          {toSize(state.skippedBytes)} passed by before what is shown.{' '}
          <a href={`/api/commands/${card.id}/output?download`} download={`${card.id}.log`}>
            Download everything
          </a>
        </p>
      )}
      <div class="log-wrap">
        {/* biome-ignore lint/a11y/useSemanticElements: a section cannot be a child that the ring fills */}
        <div
          class={`log${isWrapped ? ' wrapped' : ''}${times === 'off' ? ' no-times' : ''}`}
          ref={view}
          // biome-ignore lint/a11y/noNoninteractiveTabindex: a region that scrolls has to be reachable by keyboard
          tabIndex={0}
          role="region"
          aria-label={`Output of ${card.command.slice(0, 80)}, ${toCount(state?.lines ?? 0)} lines`}
          onClick={clicked}
          onKeyDown={(event) => {
            if (
              (event.ctrlKey || event.metaKey) &&
              event.key === 'f' &&
              document.activeElement !== field.current
            ) {
              event.preventDefault();
              field.current?.focus();
            }
          }}
        />
        <Ruler state={state} view={view.current} at={view2} />
        {state?.error && <p class="log-empty">{state.error}</p>}
        {state !== undefined && state.error === null && state.lines === 0 && (
          <p class="log-empty">{state.isEnded ? 'It printed nothing.' : 'Nothing printed yet.'}</p>
        )}
        {fresh > 0 && (
          <button type="button" class="pill" onClick={follow}>
            {toCount(fresh)} new lines
          </button>
        )}
      </div>
      <footer class="live">
        <button
          class="follow"
          type="button"
          aria-pressed={isFollowing}
          onClick={follow}
          disabled={state?.isEnded && !isFollowing}
        >
          <span class="dot run" />
          {isFollowing && !state?.isEnded ? 'Following' : state?.isEnded ? 'Ended' : 'Follow'}
        </button>
        <span class="nums">
          <b>{toCount(state?.lines ?? 0)}</b> lines
        </span>
        <span class="nums">{toSize(state?.bytes ?? 0)}</span>
        <span class="hint" aria-hidden="true">
          <kbd>f</kbd> follow <kbd>/</kbd> find <kbd>[</kbd>
          <kbd>]</kbd> command before, after <kbd>?</kbd> keys
        </span>
      </footer>
      <Spoken state={state} />
    </>
  );
}

function toHits(state: LogState | undefined, query: string, index: number | undefined): string {
  if (query === '' || !state) return '';
  if (state.queryError !== null) return state.queryError;
  if (state.found === 0) return state.isSearched ? 'none' : '…';
  return index === undefined ? toCount(state.found) : `${toCount(index + 1)} of ${toCount(state.found)}`;
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
