import { type AgentCard, type CommandCard, maxFailed, type NowReply } from '../../contract/console.ts';
import { copyText } from '../notify.ts';
import { Awaiting } from '../parts/awaiting.tsx';
import { ClockTime } from '../parts/clock-time.tsx';
import { CommandRows, RunningRow } from '../parts/command-rows.tsx';
import { CommandText } from '../parts/command-text.tsx';
import { Icon } from '../parts/icon.tsx';
import { Question } from '../parts/question.tsx';
import { ServerList } from '../parts/server-list.tsx';
import { Spark } from '../parts/spark.tsx';
import { Empty, Loading } from '../parts/states.tsx';
import { awaitingInput, clock, now, runningCount, waitingCount } from '../store.ts';
import { useSteady } from '../use-steady.ts';
import { toAgentName, toCount, toName } from '../words.ts';

// The approval request of a waiting command arrives a moment after the command itself.
const questionMs = 3_000;

/** The page Now: open questions, running commands, failures of the last hour, agents and servers. */
export function NowPage() {
  const state = now.value;
  if (!state) return <Loading page="Now" />;
  const elsewhere = findElsewhere(state);
  return (
    <div class={waitingCount.value + elsewhere.length > 0 ? 'columns has-needs' : 'columns'}>
      <div class="column">
        <Summary state={state} needs={waitingCount.value} />
        {state.total === 0 && state.running.length === 0 && <FirstSteps />}
        <RunningAndFailed state={state} />
      </div>
      <div class="column">
        {state.approval_off !== null && state.questions.length === 0 && elsewhere.length > 0 && (
          <p class="notice">{state.approval_off}</p>
        )}
        {state.questions.map((question) => (
          <Question key={question.id} question={question} />
        ))}
        {awaitingInput.value.map((card) => (
          <Awaiting key={card.id} card={card} />
        ))}
        {elsewhere.map((card) => (
          <AskedElsewhere key={card.id} card={card} agents={state.agents} />
        ))}
        <Agents agents={state.agents} />
        <Applets applets={state.applets} />
        <section class="card part" aria-labelledby="servers-title">
          <h2 id="servers-title">
            Servers <a href="/server">more</a>
          </h2>
          <ServerList servers={state.servers} isShort />
        </section>
      </div>
    </div>
  );
}

function findElsewhere({ running, questions }: NowReply): readonly CommandCard[] {
  return running.filter(
    (card) =>
      card.state === 'waiting' &&
      clock.value - Date.parse(card.asked_at) > questionMs &&
      !questions.some(({ command, calls }) => command === card.id || calls.includes(card.id)),
  );
}

function Summary({ state, needs }: { readonly state: NowReply; readonly needs: number }) {
  const { failed, per_minute } = state;
  const active = runningCount.value;
  return (
    <section class="card part" aria-labelledby="sum-title">
      <h1 id="sum-title" class="sum">
        <b class={needs > 0 ? 'wait' : ''}>{needs}</b> {needs === 1 ? 'needs' : 'need'} you
        <span class="sep" />
        <b class={active > 0 ? 'run' : ''}>{active}</b> running
        <span class="sep" />
        <b class={failed.length > 0 ? 'bad' : ''}>
          {failed.length}
          {failed.length >= maxFailed && '+'}
        </b>{' '}
        failed or refused in the last hour
      </h1>
      <Spark
        values={per_minute}
        label={`${per_minute.reduce((sum, one) => sum + one, 0)} commands in the last hour, by minute`}
        height={36}
      />
      <p class="fine">Commands a minute, last hour</p>
    </section>
  );
}

function RunningAndFailed({ state }: { readonly state: NowReply }) {
  const [{ running, failed }, aim] = useSteady(state);
  return (
    <div class="column" {...aim}>
      <Running cards={running} />
      <Failed cards={failed} />
    </div>
  );
}

function Running({ cards }: { readonly cards: readonly CommandCard[] }) {
  const active = cards.filter(({ state }) => state !== 'waiting');
  return (
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
  );
}

function Failed({ cards }: { readonly cards: readonly CommandCard[] }) {
  return (
    <section class="card part" aria-labelledby="failed-title">
      <h2 id="failed-title">
        Failed or refused in the last hour <a href="/commands?outcome=problem">all</a>
      </h2>
      {cards.length === 0 ? (
        <p class="soft">Nothing failed.</p>
      ) : (
        <CommandRows cards={cards.slice(0, 12)} label="Failed commands" />
      )}
    </section>
  );
}

function AskedElsewhere({
  card,
  agents,
}: {
  readonly card: CommandCard;
  readonly agents: readonly AgentCard[];
}) {
  const client = agents.find(({ key }) => key === card.agent)?.client ?? '';
  return (
    <article class="card ask" aria-label="Asked elsewhere">
      <header>
        <span class="tag wait">Asked in {toName(client, 'its client')}</span>
      </header>
      <pre class="asked">
        <CommandText text={card.command} programs={card.programs} />
      </pre>
      <p class="fine">The client asks its user itself; answer there.</p>
    </article>
  );
}

function Agents({ agents: all }: { readonly agents: readonly AgentCard[] }) {
  const [agents, aim] = useSteady(all);
  return (
    <section class="card part" aria-labelledby="agents-title" {...aim}>
      <h2 id="agents-title">
        Agents <a href="/agents">all</a>
      </h2>
      {agents.length === 0 && <p class="soft">No agent has connected yet.</p>}
      <ul class="rows-list">
        {agents.slice(0, 8).map((agent) => (
          <li key={agent.key}>
            <a class="agent-row" data-row href={`/agents/${encodeURIComponent(agent.key)}`}>
              <span class={`dot ${agent.here ? 'ok' : 'off'}`} aria-hidden="true" />
              <b>{toAgentName(agent)}</b>
              <span class="soft">
                <ClockTime at={agent.last} ago={clock.value} />
              </span>
              <span class="sub">
                {toCount(agent.commands)} {agent.commands === 1 ? 'command' : 'commands'}
                {agent.running > 0 && <span class="run">{agent.running} running</span>}
                {agent.failed > 0 && <span class="bad">{agent.failed} failed</span>}
                {agent.refused > 0 && <span class="warn">{agent.refused} refused</span>}
              </span>
            </a>
          </li>
        ))}
      </ul>
    </section>
  );
}

function Applets({ applets }: Pick<NowReply, 'applets'>) {
  if (applets.length === 0) return null;
  return (
    <section class="card part" aria-labelledby="applets-title">
      <h2 id="applets-title">Applets</h2>
      <ul class="link-list">
        {applets.map(({ slug, title }) => (
          <li key={slug}>
            <a data-row href={`/applets/${slug}/`}>
              {toName(title, slug)}
            </a>
          </li>
        ))}
      </ul>
    </section>
  );
}

const plugIn = 'nacre init claude-code';

/** Instructions that are shown until the first command has run. */
export function FirstSteps() {
  return (
    <div class="card part">
      <Empty title="No command has run yet.">
        <p>Plug an agent in with this line; its commands appear here as they run.</p>
        <div class="copied">
          <pre class="asked">
            <code>{plugIn}</code>
          </pre>
          <button class="btn" type="button" onClick={() => void copyText(plugIn, 'The command is copied.')}>
            <Icon name="copy" />
            Copy
          </button>
        </div>
        <p class="soft">
          Apps call <code>POST /api/shell</code>; see <a href="/docs">the API</a>.
        </p>
      </Empty>
    </div>
  );
}
