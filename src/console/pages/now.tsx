import { CommandRows, RunningRow } from '../parts/command-rows.tsx';
import { Question } from '../parts/question.tsx';
import { Spark } from '../parts/spark.tsx';
import { Empty, Loading } from '../parts/states.tsx';
import { clock, now } from '../store.ts';
import { toAgentName, toAgo, toCount, toPath } from '../words.ts';

// The question of a command that waits arrives a moment after the command itself.
const questionMs = 3_000;

/** What needs you, what runs, what failed in the last hour, the agents, the servers. */
export function NowPage() {
  const state = now.value;
  if (!state) return <Loading page="Now" />;
  const { questions, running, failed, agents, servers, per_minute, total } = state;
  const elsewhere = running.filter(
    (card) =>
      card.state === 'waiting' &&
      clock.value - Date.parse(card.asked_at) > questionMs &&
      !questions.some(({ command }) => command === card.id),
  );
  const active = running.filter(({ state: one }) => one !== 'waiting');
  const isFirst = total === 0 && running.length === 0;
  const needs = questions.length + elsewhere.length;
  return (
    <div class={needs > 0 ? 'columns has-needs' : 'columns'}>
      <div class="column">
        <section class="card part" aria-labelledby="sum-title">
          <h1 id="sum-title" class="sum">
            <b class={needs > 0 ? 'wait' : ''}>{needs}</b> {needs === 1 ? 'needs' : 'need'} you
            <span class="sep" />
            <b class={active.length > 0 ? 'run' : ''}>{active.length}</b> running
            <span class="sep" />
            <b class={failed.length > 0 ? 'bad' : ''}>{failed.length}</b> failed in the last hour
          </h1>
          <Spark
            values={per_minute}
            label={`${per_minute.reduce((sum, one) => sum + one, 0)} commands in the last hour, by minute`}
            height={36}
          />
          <p class="fine">Commands a minute, last hour</p>
        </section>
        {isFirst && <FirstSteps />}
        <section class="card part" aria-labelledby="running-title">
          <h2 id="running-title">Running</h2>
          {active.length === 0 ? (
            <p class="soft">Nothing runs now.</p>
          ) : (
            <ul class="rows-list">
              {active.map((card) => (
                <RunningRow key={card.id} card={card} />
              ))}
            </ul>
          )}
        </section>
        <section class="card part" aria-labelledby="failed-title">
          <h2 id="failed-title">
            Failed or refused in the last hour <a href="/commands?outcome=problem">all</a>
          </h2>
          {failed.length === 0 ? (
            <p class="soft">Nothing failed.</p>
          ) : (
            <CommandRows cards={failed.slice(0, 12)} label="Failed commands" />
          )}
        </section>
      </div>
      <div class="column">
        {state.approval_off !== null && questions.length === 0 && elsewhere.length > 0 && (
          <p class="notice">{state.approval_off}</p>
        )}
        {questions.map((question) => (
          <Question key={question.id} question={question} />
        ))}
        {elsewhere.map((card) => (
          <article key={card.id} class="card ask" aria-label="Asked elsewhere">
            <header>
              <span class="tag wait">
                Asked in {agents.find(({ key }) => key === card.agent)?.client ?? 'its client'}
              </span>
            </header>
            <pre class="asked">
              <code>{card.command}</code>
            </pre>
            <p class="fine">The client asks its user itself; answer there.</p>
          </article>
        ))}
        <section class="card part" aria-labelledby="agents-title">
          <h2 id="agents-title">
            Agents <a href="/agents">all</a>
          </h2>
          <ul class="rows-list">
            {agents.slice(0, 8).map((agent) => (
              <li key={agent.key}>
                <a class="agent-row" data-row href={`/agents/${encodeURIComponent(agent.key)}`}>
                  <span class={`dot ${agent.here ? 'ok' : 'off'}`} aria-hidden="true" />
                  <b>{toAgentName(agent)}</b>
                  <span class="soft">{toAgo(agent.last, clock.value)}</span>
                  <span class="sub">
                    {toCount(agent.commands)} commands
                    {agent.running > 0 && <span class="run">{agent.running} running</span>}
                    {agent.failed > 0 && <span class="bad">{agent.failed} failed</span>}
                    {agent.refused > 0 && <span class="warn">{agent.refused} refused</span>}
                  </span>
                </a>
              </li>
            ))}
          </ul>
        </section>
        {state.applets.length > 0 && (
          <section class="card part" aria-labelledby="applets-title">
            <h2 id="applets-title">Applets</h2>
            <ul class="link-list">
              {state.applets.map(({ slug, title }) => (
                <li key={slug}>
                  <a data-row href={`/applets/${slug}/`}>
                    {title}
                  </a>
                </li>
              ))}
            </ul>
          </section>
        )}
        <section class="card part" aria-labelledby="servers-title">
          <h2 id="servers-title">
            Servers <a href="/server">more</a>
          </h2>
          <ul class="plain-list">
            {servers.map((server) => (
              <li key={server.instance}>
                <span class={`dot ${server.problem === null ? 'ok' : 'bad'}`} aria-hidden="true" />
                <b>{server.address ?? (server.clients.join(', ') || server.door)}</b>
                <span class="soft">
                  pid {server.pid} in {toPath(server.cwd, state.home)}
                </span>
                {server.problem !== null && <span class="bad">{server.problem}</span>}
              </li>
            ))}
          </ul>
        </section>
      </div>
    </div>
  );
}

/** What is said before the first command. */
export function FirstSteps() {
  return (
    <div class="card part">
      <Empty title="No command has run yet.">
        <p>Plug an agent in with this line; its commands appear here as they run.</p>
        <pre class="asked">
          <code>nacre init claude-code</code>
        </pre>
        <p class="soft">
          Apps call <code>POST /api/shell</code>; see <a href="/docs">the API</a>.
        </p>
      </Empty>
    </div>
  );
}
