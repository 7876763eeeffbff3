import type { AgentCard, AgentList, CommandCard } from '../../contract/console.ts';
import { fetchJson } from '../api.ts';
import { ActRow } from '../parts/act-row.tsx';
import { ClockTime } from '../parts/clock-time.tsx';
import { CommandRows } from '../parts/command-rows.tsx';
import { Question } from '../parts/question.tsx';
import { Empty, Failure, Loading } from '../parts/states.tsx';
import { clock, now, questionsOf } from '../store.ts';
import { SessionTimeline } from '../timeline/session-timeline.tsx';
import { useFetched } from '../use-fetched.ts';
import { useSession } from '../use-session.ts';
import { useSteady } from '../use-steady.ts';
import { toAgentName, toAmount, toCount, toDoor, toPath } from '../words.ts';
import { showOdd } from '../worker/visible-text.ts';
import { FirstSteps } from './now.tsx';

/** The page that lists the agents. */
export function AgentsPage() {
  const { data, error, set, reload } = useFetched<AgentList>('/api/agents');
  const state = now.value;
  if (error) return <Failure error={error} onRetry={reload} isPage />;
  if (!state || !data) return <Loading page="Agents" />;
  const agents = withNewest(data.agents, state.agents);
  if (agents.length === 0)
    return (
      <>
        <h1 class="sr">Agents</h1>
        <FirstSteps />
      </>
    );
  const more = async () => {
    const page = await fetchJson<AgentList>(`/api/agents?after=${encodeURIComponent(data.next ?? '')}`);
    set((before) => ({ ...page, agents: withNewest(page.agents, before.agents) }));
  };
  return (
    <section class="card fill" aria-labelledby="agents-title">
      <header class="list-head">
        <h1 id="agents-title">Agents</h1>
        <span class="count">{toCount(Math.max(data.total, agents.length))}</span>
      </header>
      <AgentRows agents={agents} home={state.home} />
      {data.next !== null && (
        <button class="btn more" type="button" onClick={() => void more()}>
          Show more
        </button>
      )}
    </section>
  );
}

// The agents that were active last are always current; those after them are as they were when they were fetched.
function withNewest(fetched: readonly AgentCard[], newest: readonly AgentCard[]): readonly AgentCard[] {
  const known = new Set(newest.map(({ key }) => key));
  return [...newest, ...fetched.filter(({ key }) => !known.has(key))];
}

function AgentRows({ agents, home }: { readonly agents: readonly AgentCard[]; readonly home: string }) {
  const [shown, aim] = useSteady(agents);
  return (
    <ul class="rows-list" {...aim}>
      {shown.map((agent) => (
        <li key={agent.key}>
          <a class="agent-row wide" data-row href={`/agents/${encodeURIComponent(agent.key)}`}>
            <span class={`dot ${agent.here ? 'ok' : 'off'}`} aria-hidden="true" />
            <b>
              {toAgentName(agent)}
              <span class="sr">{agent.here ? ', here' : ', gone'}</span>
            </b>
            <span class="soft">{toPath(agent.folder, home)}</span>
            <span class="sub">
              <span>
                {toAmount(agent.commands, 'command')} {toDoor(agent.door)} since{' '}
                <ClockTime at={agent.since} withSeconds={false} />
              </span>
              {agent.running > 0 && <span class="run">{agent.running} running</span>}
              {agent.waiting > 0 && <span class="wait">{agent.waiting} waiting</span>}
              {agent.failed > 0 && <span class="bad">{agent.failed} failed</span>}
              {agent.refused > 0 && <span class="warn">{agent.refused} refused</span>}
            </span>
            <span class="soft">
              <ClockTime at={agent.last} ago={clock.value} />
            </span>
          </a>
        </li>
      ))}
    </ul>
  );
}

/** The page of one agent: the timeline and the commands of its session. */
export function AgentPage({ id }: { readonly id: string }) {
  const { data, error, reload } = useSession(id);
  if (error) return <Failure error={error} onRetry={reload} isPage />;
  if (!data) return <Loading page="Agent" />;
  const agent = now.value?.agents.find(({ key }) => key === id) ?? data.agent;
  const cards = data.commands.toReversed();
  return (
    <div class="stack">
      <h1 class="sr">{toAgentName(agent)}</h1>
      <SessionTimeline agent={agent} commands={data.commands} />
      {questionsOf(id).map((question) => (
        <Question key={question.id} question={question} isWide />
      ))}
      <section class="card fill" aria-labelledby="own-title">
        <header class="list-head">
          <h2 id="own-title">Commands</h2>
          <span class="count">{toCount(agent.commands)}</span>
          <a class="more-link" href={`/commands?agent=${encodeURIComponent(id)}`}>
            Filter
          </a>
        </header>
        {agent.shells.length > 0 && (
          <p class="soft pad">
            {agent.shells.length === 1 ? 'Shell' : 'Shells'}: <b>{showOdd(agent.shells.join(', '))}</b>
          </p>
        )}
        {cards.length === 0 ? (
          <Empty title="No commands." />
        ) : (
          <OwnCommands cards={cards.slice(0, mostCommands)} />
        )}
        {cards.length > mostCommands && (
          <a class="btn more" href={`/commands?agent=${encodeURIComponent(id)}`}>
            All {toAmount(Math.max(agent.commands, cards.length), 'command')}
          </a>
        )}
      </section>
      <Acts cards={cards} />
    </div>
  );
}

const mostCommands = 300;
const mostActs = 50;

function Acts({ cards }: { readonly cards: readonly CommandCard[] }) {
  const acts = cards.flatMap((card) => card.acts.map((act) => ({ card, act })));
  if (acts.length === 0) return null;
  const newest = acts.toSorted((one, other) => (one.act.at < other.act.at ? 1 : -1)).slice(0, mostActs);
  return (
    <section class="card fill" aria-labelledby="acts-title">
      <header class="list-head">
        <h2 id="acts-title">Actions of people</h2>
      </header>
      <ul class="answer-list">
        {newest.map(({ card, act }) => (
          <ActRow key={`${card.id} ${act.at} ${act.kind}`} card={card} act={act} />
        ))}
      </ul>
    </section>
  );
}

function OwnCommands({ cards }: { readonly cards: readonly CommandCard[] }) {
  const [shown, aim] = useSteady(cards);
  return (
    <div {...aim}>
      <CommandRows cards={shown} withAgent={false} label="Commands of this agent" />
    </div>
  );
}
