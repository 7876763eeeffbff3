import type { AgentCard, CommandCard } from '../../contract/console.ts';
import { CommandRows } from '../parts/command-rows.tsx';
import { Question } from '../parts/question.tsx';
import { Empty, Failure, Loading } from '../parts/states.tsx';
import { isNarrow } from '../screen.ts';
import { clock, now } from '../store.ts';
import { SessionTimeline } from '../timeline/session-timeline.tsx';
import { useFetched } from '../use-fetched.ts';
import { toAgentName, toAgo, toClock, toCount, toPath } from '../words.ts';
import { FirstSteps } from './now.tsx';

/** The page that lists the agents. */
export function AgentsPage() {
  const state = now.value;
  if (!state) return <Loading page="Agents" />;
  if (state.agents.length === 0)
    return (
      <>
        <h1 class="sr">Agents</h1>
        <FirstSteps />
      </>
    );
  return (
    <section class="card fill" aria-labelledby="agents-title">
      <header class="list-head">
        <h1 id="agents-title">Agents</h1>
        <span class="count">{state.agents.length}</span>
      </header>
      <ul class="rows-list">
        {state.agents.map((agent) => (
          <li key={agent.key}>
            <a class="agent-row wide" data-row href={`/agents/${encodeURIComponent(agent.key)}`}>
              <span class={`dot ${agent.here ? 'ok' : 'off'}`} aria-hidden="true" />
              <b>
                {toAgentName(agent)}
                <span class="sr">{agent.here ? ', here' : ', gone'}</span>
              </b>
              <span class="soft">{toPath(agent.folder, state.home)}</span>
              <span class="sub">
                over {agent.door}, {toCount(agent.commands)} commands since {toClock(agent.since, false)}
                {agent.running > 0 && <span class="run">{agent.running} running</span>}
                {agent.waiting > 0 && <span class="wait">{agent.waiting} waiting</span>}
                {agent.failed > 0 && <span class="bad">{agent.failed} failed</span>}
                {agent.refused > 0 && <span class="warn">{agent.refused} refused</span>}
              </span>
              <span class="soft">{toAgo(agent.last, clock.value)}</span>
            </a>
          </li>
        ))}
      </ul>
    </section>
  );
}

/** The session of one agent: its timeline and its commands. */
export function AgentPage({ id }: { readonly id: string }) {
  const { data, error, reload } = useFetched<{
    readonly agent: AgentCard;
    readonly commands: readonly CommandCard[];
  }>(`/api/agents/${encodeURIComponent(id)}`);
  if (error) return <Failure error={error} onRetry={reload} isPage />;
  if (!data) return <Loading page="Agent" />;
  const agent = now.value?.agents.find(({ key }) => key === id) ?? data.agent;
  const questions = isNarrow.value
    ? []
    : (now.value?.questions ?? []).filter((question) => question.agent === id);
  const live = new Map((now.value?.running ?? []).map((card) => [card.id, card]));
  const cards = data.commands.map((card) => live.get(card.id) ?? card).toReversed();
  return (
    <div class="stack">
      <h1 class="sr">{toAgentName(agent)}</h1>
      <SessionTimeline agent={agent} />
      {questions.map((question) => (
        <Question key={question.id} question={question} isWide />
      ))}
      <section class="card fill" aria-labelledby="own-title">
        <header class="list-head">
          <h2 id="own-title">Commands</h2>
          <span class="count">{toCount(agent.commands)}</span>
          <a class="more-link" href={`/commands?agent=${encodeURIComponent(id)}`}>
            filter
          </a>
        </header>
        {cards.length === 0 ? (
          <Empty title="No commands." />
        ) : (
          <CommandRows cards={cards.slice(0, 300)} withAgent={false} label="Commands of this agent" />
        )}
      </section>
    </div>
  );
}
