import { useEffect, useMemo, useRef, useState } from 'preact/hooks';
import type { RecordRow } from '../../contract/console.ts';
import { fetchJson } from '../api.ts';
import { watchRecords } from '../bridge.ts';
import { FilterChips } from '../parts/filter-chips.tsx';
import { FilterForm } from '../parts/filter-form.tsx';
import { FilterSelect } from '../parts/filter-select.tsx';
import { Icon } from '../parts/icon.tsx';
import { describe } from '../parts/record-list.tsx';
import { Empty, Failure, Loading, NoMatch } from '../parts/states.tsx';
import { place, setQuery } from '../router.ts';
import { onRecords } from '../store.ts';
import { useFetched } from '../use-fetched.ts';
import { toAmount, toClock, toCount, toTitle } from '../words.ts';
import { showOdd } from '../worker/visible-text.ts';

interface RecordPage {
  readonly records: readonly RecordRow[];
  readonly next: string | null;
}

const kinds = [
  ...[
    'asked',
    'decided',
    'approved',
    'declined',
    'started',
    'input',
    'stop',
    'finished',
    'refused',
    'failed',
    'skipped',
  ],
  ...[
    'viewed',
    'downloaded',
    'signed_in',
    'signed_out',
    'linked',
    'paused',
    'resumed',
    'unknown_caller',
    'port_opened',
    'port_closed',
  ],
];
// The filters of GET /api/audit; `id` can only be typed into the address.
const filterNames = ['q', 'kind', 'id'] as const;
const maxShown = 1_000;

/** The page Audit: records, newest first, and whether their chain is intact. */
export function AuditPage() {
  const { query } = place.value;
  const active = filterNames.filter((name) => query.has(name));
  const isFiltered = active.length > 0;
  const { data, error, reload, list, waiting, showWaiting, more } = useRecords(query, isFiltered);
  return (
    <section class="card fill" aria-labelledby="audit-title">
      <header class="list-head">
        <h1 id="audit-title">Audit</h1>
        <FilterForm
          label="Text in a record"
          words={query.get('q') ?? ''}
          onWords={(q) => setQuery({ q })}
          isFiltered={query.has('kind')}
        >
          <FilterSelect
            label="Kind"
            value={query.get('kind') ?? ''}
            options={[['', 'Every kind'], ...kinds.map((kind) => [kind, kind] as const)]}
            onChange={(kind) => setQuery({ kind })}
          />
          <a class="btn" href={`/api/audit/export?${query}`} download="audit.jsonl">
            <Icon name="download" />
            Export
          </a>
        </FilterForm>
        <Chain />
      </header>
      <FilterChips
        filters={active.map((name) => ({
          name,
          words: `${name === 'q' ? 'text' : name}: ${showOdd(query.get(name) ?? '')}`,
        }))}
        page="/audit"
      />
      {waiting.length > 0 && (
        <button class="pill page-pill" type="button" onClick={showWaiting}>
          {waiting.length >= maxShown
            ? `${toCount(maxShown)} or more new records`
            : toAmount(waiting.length, 'new record')}
        </button>
      )}
      {error ? (
        <Failure error={error} onRetry={reload} />
      ) : !data ? (
        <Loading />
      ) : data.records.length === 0 ? (
        isFiltered ? (
          <NoMatch title="No record matches." />
        ) : (
          <Empty title="There are no records yet." />
        )
      ) : (
        <ol class="audit-list" ref={list}>
          {data.records.map((record) => (
            <AuditRow key={`${record.server}-${record.seq}`} record={record} />
          ))}
        </ol>
      )}
      {data?.next && (
        <button class="btn more" type="button" onClick={() => void more()}>
          Show more
        </button>
      )}
    </section>
  );
}

/** The records that the page shows, and new ones that wait until the user asks for them. */
function useRecords(query: URLSearchParams, isFiltered: boolean) {
  const { data, error, set, reload } = useFetched<RecordPage>(`/api/audit?${query}`);
  useEffect(() => {
    watchRecords(true);
    return () => watchRecords(false);
  }, []);
  const list = useRef<HTMLOListElement>(null);
  const [later, setLater] = useState<readonly RecordRow[]>([]);
  // A record that arrived while the list was fetched again is in both.
  const waiting = useMemo(() => listMissing(later, data?.records ?? []), [later, data?.records]);
  const waits = useRef(false);
  waits.current = waiting.length > 0;
  useEffect(() => setLater([]), [query.toString()]);
  const show = (records: readonly RecordRow[]) =>
    set((before) => ({ ...before, records: put(records, before.records) }));
  useEffect(
    () =>
      onRecords((records) => {
        if (isFiltered) return;
        // While the user points at the list, or other new rows wait, new rows wait as well: no row moves under the pointer, and the
        // order stays.
        const isUsed = list.current?.matches(':hover, :focus-within') || window.scrollY > 0;
        if (isUsed || waits.current) setLater((before) => put(records, before));
        else show(records);
      }),
    [isFiltered],
  );
  const more = async () => {
    const page = await fetchJson<RecordPage>(
      `/api/audit?${query}&before=${encodeURIComponent(data?.next ?? '')}`,
    );
    set((before) => ({ ...page, records: [...before.records, ...page.records].slice(-maxShown) }));
  };
  const showWaiting = () => {
    if (waiting.length < maxShown) show(waiting.toReversed());
    else reload();
    setLater([]);
    window.scrollTo(0, 0);
  };
  return { data, error, reload, list, waiting, showWaiting, more };
}

/** Inserts new records before those that are shown, newest first; skips duplicates. */
function put(records: readonly RecordRow[], before: readonly RecordRow[]): readonly RecordRow[] {
  return [...listMissing(records, before).toReversed(), ...before].slice(0, maxShown);
}

/** The records that are not in a list. */
function listMissing(records: readonly RecordRow[], list: readonly RecordRow[]): readonly RecordRow[] {
  const keyOf = ({ server, seq }: RecordRow) => `${server} ${seq}`;
  const known = new Set(list.map(keyOf));
  return records.filter((record) => !known.has(keyOf(record)));
}

function AuditRow({ record }: { readonly record: RecordRow }) {
  const isCommand = /^(?:cmd|shell)_/.test(record.id);
  const text =
    typeof record.command === 'string'
      ? record.command
      : Array.isArray(record.command)
        ? record.command.join(' ')
        : '';
  return (
    <li>
      <time dateTime={record.time} title={record.time}>
        {toClock(record.time)}
      </time>
      <b class={record.kind === 'refused' ? 'warn' : record.kind === 'failed' ? 'bad' : ''}>{record.kind}</b>
      <span class="what">
        {text !== '' && <code>{showOdd(toTitle(text))} </code>}
        <span class="soft">{describe(record)}</span>
      </span>
      {isCommand ? (
        <a data-row href={`/commands/${record.id}`}>
          <code>{record.id}</code>
        </a>
      ) : (
        <code class="soft">{record.id}</code>
      )}
    </li>
  );
}

interface Verified {
  readonly records: number;
  readonly problems: readonly { readonly file: string; readonly what: string }[];
}

function Chain() {
  const [state, setState] = useState<Verified | 'checks' | Error>();
  const verify = async () => {
    setState('checks');
    setState(await fetchJson<Verified>('/api/audit/verify').catch((error: Error) => error));
  };
  return (
    <p class="chain" role="status">
      <button class="btn" type="button" disabled={state === 'checks'} onClick={() => void verify()}>
        <Icon name="audit" />
        {state === 'checks' ? 'Checking…' : 'Check the chain'}
      </button>
      {state instanceof Error && <span class="bad">{state.message}</span>}
      {state !== undefined && state !== 'checks' && !(state instanceof Error) && (
        <span class={state.problems.length > 0 ? 'bad' : 'ok'}>
          {state.problems.length === 0
            ? `Whole: ${toCount(state.records)} records`
            : state.problems.map(({ file, what }) => `${file} ${what}`).join('; ')}
        </span>
      )}
    </p>
  );
}
