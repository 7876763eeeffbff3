import { useEffect, useRef, useState } from 'preact/hooks';
import type { CommandCard } from '../../contract/console.ts';
import { fetchJson } from '../api.ts';
import { CommandRows } from '../parts/command-rows.tsx';
import { Icon } from '../parts/icon.tsx';
import { Empty, Failure, Loading } from '../parts/states.tsx';
import { go, place, setQuery } from '../router.ts';
import { now, onCards } from '../store.ts';
import { useFetched } from '../use-fetched.ts';
import { toAgentName, toCount } from '../words.ts';
import { FirstSteps } from './now.tsx';

interface CommandPage {
  readonly commands: readonly CommandCard[];
  readonly total: number;
  readonly next: string | null;
}

const outcomes = [
  'problem',
  'running',
  'completed',
  'failed',
  'refused',
  'timeout',
  'killed',
  'error',
  'lost',
  'skipped',
];
const filters = ['q', 'agent', 'program', 'outcome', 'cwd', 'since'] as const;
const maxShown = 1_000;

/** Every command, newest first; the filters are the address. */
export function CommandsPage() {
  const { query } = place.value;
  const { data, error, set, reload } = useFetched<CommandPage>(`/api/commands?${query}`);
  const [fresh, setFresh] = useState(0);
  const seen = useRef({ since: new Date().toISOString(), ids: new Set<string>() });
  const list = useRef<HTMLDivElement>(null);
  const active = filters.filter((name) => query.has(name));
  useEffect(() => {
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
          // Nothing moves under the reader: new rows wait while the list is used or filtered.
          const isUsed =
            list.current?.matches(':hover, :focus-within') || window.scrollY > 0 || active.length > 0;
          if (isUsed) {
            const { since, ids } = seen.current;
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
    [active.length],
  );
  const more = async () => {
    if (!data?.next) return;
    const page = await fetchJson<CommandPage>(`/api/commands?${query}&after=${data.next}`);
    set((before) => ({ ...page, commands: [...before.commands, ...page.commands].slice(-maxShown) }));
  };
  return (
    <section class="card fill" aria-labelledby="commands-title">
      <header class="list-head">
        <h1 id="commands-title">Commands</h1>
        <span class="count" role="status">
          {data ? toCount(data.total) : ''}
        </span>
        <Filters />
      </header>
      {active.length > 0 && (
        <ul class="chips" aria-label="Filters">
          {active.map((name) => (
            <li key={name}>
              <button class="chip" type="button" onClick={() => setQuery({ [name]: '' })}>
                {name}: {name === 'agent' ? agentName(query.get(name) ?? '') : query.get(name)}
                <span class="sr">, remove</span> <Icon name="close" />
              </button>
            </li>
          ))}
          <li>
            <button class="btn quiet" type="button" onClick={() => go('/commands')}>
              Clear
            </button>
          </li>
        </ul>
      )}
      {fresh > 0 && (
        <button
          class="btn wide-pill"
          type="button"
          onClick={() => {
            setFresh(0);
            seen.current = { since: new Date().toISOString(), ids: new Set() };
            reload();
          }}
        >
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
          <Empty title="No command matches.">
            <p class="soft">Remove a filter above, or clear them all.</p>
          </Empty>
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

function agentName(key: string): string {
  const agent = now.value?.agents.find((one) => one.key === key);
  return agent ? toAgentName(agent) : key;
}

function Filters() {
  const { query } = place.value;
  return (
    <form
      class="filters"
      onSubmit={(event) => {
        event.preventDefault();
      }}
    >
      <label class="field">
        <Icon name="search" />
        <span class="sr">Words in the command</span>
        <input
          type="search"
          placeholder="Words in the command"
          value={query.get('q') ?? ''}
          onChange={(event) => setQuery({ q: event.currentTarget.value })}
        />
      </label>
      <label>
        <span class="sr">Agent</span>
        <select
          value={query.get('agent') ?? ''}
          onChange={(event) => setQuery({ agent: event.currentTarget.value })}
        >
          <option value="">Every agent</option>
          {(now.value?.agents ?? []).map((agent) => (
            <option key={agent.key} value={agent.key}>
              {toAgentName(agent)}
            </option>
          ))}
        </select>
      </label>
      <label>
        <span class="sr">Outcome</span>
        <select
          value={query.get('outcome') ?? ''}
          onChange={(event) => setQuery({ outcome: event.currentTarget.value })}
        >
          <option value="">Every outcome</option>
          {outcomes.map((name) => (
            <option key={name} value={name}>
              {name === 'problem' ? 'any problem' : name}
            </option>
          ))}
        </select>
      </label>
      <label>
        <span class="sr">When</span>
        <select
          value={query.get('since') ?? ''}
          onChange={(event) => setQuery({ since: event.currentTarget.value })}
        >
          <option value="">Any time</option>
          <option value="15m">15 minutes</option>
          <option value="1h">1 hour</option>
          <option value="1d">1 day</option>
          <option value="7d">7 days</option>
        </select>
      </label>
    </form>
  );
}
