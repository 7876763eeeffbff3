import { useEffect, useRef, useState } from 'preact/hooks';
import type { CommandCard } from '../../contract/console.ts';
import { fetchJson } from '../api.ts';
import { choose } from '../choices.ts';
import { CommandRows } from '../parts/command-rows.tsx';
import { FilterChips } from '../parts/filter-chips.tsx';
import { FilterForm } from '../parts/filter-form.tsx';
import { FilterSelect } from '../parts/filter-select.tsx';
import { Failure, Loading, NoMatch } from '../parts/states.tsx';
import { place, setQuery } from '../router.ts';
import { agentOf, now, onCards } from '../store.ts';
import { useFetched } from '../use-fetched.ts';
import { toAgentName, toCount, toPath } from '../words.ts';
import { showOdd } from '../worker/visible-text.ts';
import { type FilterName, filterNames, readFilters } from './command-filters.ts';
import { FirstSteps } from './now.tsx';

interface CommandPage {
  readonly commands: readonly CommandCard[];
  readonly total: number;
  readonly next: string | null;
  /** The most common programs, for the filter. */
  readonly programs?: readonly string[];
}

const outcomes = [
  ['', 'Every outcome'],
  ['problem', 'Any problem'],
  ['running', 'Running'],
  ['completed', 'Done'],
  ['failed', 'Failed'],
  ['refused', 'Refused'],
  ['timeout', 'Timed out'],
  ['killed', 'Stopped'],
  ['error', 'Could not run'],
  ['lost', 'Lost'],
  ['skipped', 'Skipped'],
] as const;
const times = [
  ['', 'Any time'],
  ['15m', '15 minutes'],
  ['1h', '1 hour'],
  ['1d', '1 day'],
  ['7d', '7 days'],
] as const;
const maxShown = 1_000;

/** The page Commands: every command, newest first; its filters are in the address. */
export function CommandsPage() {
  const { query } = place.value;
  const active = filterNames.filter((name) => query.has(name));
  const { data, error, reload, list, fresh, showFresh, more } = useCommands(query, active.length > 0);
  return (
    <section class="card fill" aria-labelledby="commands-title">
      <header class="list-head">
        <h1 id="commands-title">Commands</h1>
        <span class="count" role="status">
          {data ? toCount(data.total) : ''}
        </span>
        <Filters programs={data?.programs ?? []} />
      </header>
      <FilterChips
        filters={active.map((name) => ({
          name,
          words: `${name === 'q' ? 'words' : name}: ${toFilterText(name, query.get(name) ?? '')}`,
        }))}
        page="/commands"
      />
      {fresh > 0 && (
        <button class="pill page-pill" type="button" onClick={showFresh}>
          {toCount(fresh)} new {fresh === 1 ? 'command' : 'commands'}
        </button>
      )}
      <div ref={list}>
        {error ? (
          <Failure error={error} onRetry={reload} />
        ) : !data ? (
          <Loading />
        ) : data.commands.length > 0 ? (
          <CommandRows cards={data.commands} label="Commands, newest first" />
        ) : active.length > 0 ? (
          <NoMatch title="No command matches." />
        ) : (
          <FirstSteps />
        )}
      </div>
      {data?.next && (
        <button class="btn more" type="button" onClick={() => void more()}>
          Show more
        </button>
      )}
    </section>
  );
}

/** The commands that the page shows, and the number of new ones that wait until the user asks for them. */
function useCommands(query: URLSearchParams, isFiltered: boolean) {
  const { data, error, set, reload } = useFetched<CommandPage>(`/api/commands?${query}`);
  const [fresh, setFresh] = useState(0);
  const seen = useRef({ since: new Date().toISOString(), ids: new Set<string>() });
  const list = useRef<HTMLDivElement>(null);
  useEffect(() => {
    const kept = new URLSearchParams(query);
    for (const name of ['q', 'agent']) kept.delete(name);
    choose({ filters: kept.toString() });
    setFresh(0);
    seen.current = { since: new Date().toISOString(), ids: new Set() };
  }, [query.toString()]);
  useEffect(
    () =>
      onCards((cards) => {
        set((before) => {
          const byId = new Map(cards.map((card) => [card.id, card]));
          const kept = before.commands.map((card) => byId.get(card.id) ?? card);
          const known = new Set(before.commands.map(({ id }) => id));
          const newest = before.commands[0]?.asked_at ?? '';
          const begun = cards.filter((card) => !known.has(card.id) && card.asked_at >= newest).toReversed();
          if (begun.length === 0) return { ...before, commands: kept };
          // While the user points at the list or filters it, or other new rows wait, new rows wait as well: no row moves under the
          // pointer, and the order stays.
          const { since, ids } = seen.current;
          const isUsed = list.current?.matches(':hover, :focus-within') || window.scrollY > 0 || isFiltered;
          if (isUsed || ids.size > 0) {
            for (const card of begun) if (card.asked_at > since && ids.size < maxShown) ids.add(card.id);
            setFresh(ids.size);
            return { ...before, commands: kept };
          }
          return {
            ...before,
            commands: [...begun, ...kept].slice(0, maxShown),
            total: before.total + begun.length,
          };
        });
      }),
    [isFiltered],
  );
  // A command that started while the list was fetched again is in both.
  useEffect(() => {
    const { ids } = seen.current;
    for (const { id } of data?.commands ?? []) ids.delete(id);
    setFresh(ids.size);
  }, [data?.commands]);
  const more = async () => {
    if (!data?.next) return;
    const page = await fetchJson<CommandPage>(`/api/commands?${query}&after=${data.next}`);
    set((before) => ({
      ...before,
      ...page,
      commands: [...before.commands, ...page.commands].slice(-maxShown),
    }));
  };
  const showFresh = () => {
    setFresh(0);
    seen.current = { since: new Date().toISOString(), ids: new Set() };
    reload();
  };
  return { data, error, reload, list, fresh, showFresh, more };
}

function toFilterText(name: FilterName, value: string): string {
  const agent = name === 'agent' ? agentOf(value) : undefined;
  if (name === 'cwd') return toPath(value, now.value?.home ?? '');
  return agent ? toAgentName(agent) : showOdd(value);
}

function Filters({ programs }: { readonly programs: readonly string[] }) {
  const { query } = place.value;
  const of = (name: FilterName) => ({
    value: query.get(name) ?? '',
    onChange: (value: string) => setQuery({ [name]: value }),
  });
  const agents = now.value?.agents ?? [];
  return (
    <FilterForm
      label="Words in the command"
      words={query.get('q') ?? ''}
      onWords={(words) => setQuery(readFilters(words, agents, now.value?.home ?? ''))}
      isFiltered={filterNames.some((name) => name !== 'q' && query.has(name))}
    >
      <FilterSelect
        label="Agent"
        options={[['', 'Every agent'], ...agents.map((agent) => [agent.key, toAgentName(agent)] as const)]}
        {...of('agent')}
      />
      <FilterSelect
        label="Program"
        options={[['', 'Every program'], ...programs.map((name) => [name, showOdd(name)] as const)]}
        {...of('program')}
      />
      <FilterSelect label="Outcome" options={outcomes} {...of('outcome')} />
      <FilterSelect label="When" options={times} {...of('since')} />
    </FilterForm>
  );
}
