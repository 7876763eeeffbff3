import { useEffect, useLayoutEffect, useState } from 'preact/hooks';
import type { AgentCard, CommandCard, RecordRow } from '../../contract/console.ts';
import { ApiError, postJson } from '../api.ts';
import { onKeys } from '../keys.ts';
import { LogView } from '../log/log-view.tsx';
import { CommandText } from '../parts/command-text.tsx';
import { Icon } from '../parts/icon.tsx';
import { InputField } from '../parts/input-field.tsx';
import { Question } from '../parts/question.tsx';
import { RecordList } from '../parts/record-list.tsx';
import { Spark } from '../parts/spark.tsx';
import { Empty, Failure, Loading } from '../parts/states.tsx';
import { Status } from '../parts/status.tsx';
import { notify } from '../parts/toast.tsx';
import { clock, isOpen, mayAct, now, onCards } from '../store.ts';
import { SessionTimeline } from '../timeline/session-timeline.tsx';
import { useFetched } from '../use-fetched.ts';
import { toPath, toSize } from '../words.ts';
import { showOdd } from '../worker/visible-text.ts';

interface CommandReply {
  readonly card: CommandCard;
  readonly text: unknown;
  readonly records: readonly RecordRow[];
  readonly output: 'live' | 'recorded' | 'gone';
  readonly agent: AgentCard | null;
}

/** One command: its output and records, and beside it why it may run and what it uses. */
export function CommandPage({ id }: { readonly id: string }) {
  const { data, error, set, reload } = useFetched<CommandReply>(`/api/commands/${encodeURIComponent(id)}`);
  const [tab, setTab] = useState<'output' | 'records'>('output');
  useEffect(
    () =>
      onCards((cards) => {
        const found = cards.find((card) => card.id === id);
        if (!found) return;
        set((before) => ({ ...before, card: found }));
        if (!isOpen(found)) reload();
      }),
    [id, data === undefined],
  );
  useLayoutEffect(() => onKeys({ 1: () => setTab('output'), 2: () => setTab('records') }));
  if (error) return <Failure error={error} onRetry={reload} isPage />;
  if (data?.card.id !== id) return <Loading page="Command" />;
  const { card } = data;
  const questions = (now.value?.questions ?? []).filter(({ agent }) => agent === card.agent);
  const hasOutput = card.started_at !== null && data.output !== 'gone';
  return (
    <div class="grid">
      {data.agent && <SessionTimeline agent={data.agent} chosen={card.id} />}
      <article class="command card" aria-labelledby="cmd-title">
        <CommandHead card={card} text={toText(data.text, card)} />
        <div class="bar">
          <div class="tabs" role="tablist" aria-label="Views">
            <Tab name="output" now={tab} onChoose={setTab} label="Output" />
            <Tab name="records" now={tab} onChoose={setTab} label="Records" />
          </div>
        </div>
        <div class="tab-body" role="tabpanel" id={`panel-${tab}`} aria-labelledby={`tab-${tab}`}>
          {tab === 'records' ? (
            <RecordList records={data.records} />
          ) : hasOutput ? (
            <LogView key={card.id} card={card} />
          ) : (
            <NoOutput card={card} isGone={card.started_at !== null} />
          )}
          {card.awaiting && mayAct.value && <InputField id={card.id} />}
        </div>
      </article>
      <aside class="side" aria-label="About this command">
        {questions.map((question) => (
          <Question key={question.id} question={question} />
        ))}
        <Why card={card} />
        <Uses card={card} />
        <section class="card part" aria-labelledby="rec-title">
          <h2 id="rec-title">Record</h2>
          <RecordList records={data.records} isShort />
        </section>
      </aside>
    </div>
  );
}

function toText(text: unknown, card: CommandCard): string {
  if (typeof text === 'string') return text;
  return Array.isArray(text) ? text.join(' ') : card.command;
}

function Tab({
  name,
  now: chosen,
  label,
  onChoose,
}: {
  readonly name: 'output' | 'records';
  readonly now: string;
  readonly label: string;
  readonly onChoose: (name: 'output' | 'records') => void;
}) {
  const isChosen = name === chosen;
  const other = name === 'output' ? 'records' : 'output';
  return (
    <button
      role="tab"
      type="button"
      id={`tab-${name}`}
      aria-selected={isChosen}
      aria-controls={isChosen ? `panel-${name}` : undefined}
      tabIndex={isChosen ? 0 : -1}
      onClick={() => onChoose(name)}
      onKeyDown={(event) => {
        if (event.key !== 'ArrowLeft' && event.key !== 'ArrowRight') return;
        onChoose(other);
        document.getElementById(`tab-${other}`)?.focus();
      }}
    >
      {label}
    </button>
  );
}

function CommandHead({ card, text }: { readonly card: CommandCard; readonly text: string }) {
  const [asks, setAsks] = useState(false);
  const home = now.value?.home ?? '';
  const copy = async () => {
    await navigator.clipboard.writeText(text);
    notify('The command is copied.');
  };
  const stop = async () => {
    setAsks(false);
    try {
      await postJson(`/api/commands/${card.id}/stop`, {});
      notify('Stopped.');
    } catch (error) {
      notify(error instanceof ApiError ? error.message : 'The server does not reply.');
    }
  };
  useLayoutEffect(() =>
    onKeys({
      x: () => {
        if (card.state === 'running' && mayAct.value) setAsks(true);
      },
    }),
  );
  return (
    <header class="cmd-head">
      <Status card={card} />
      <h1 id="cmd-title">
        <CommandText text={text} programs={card.programs} />
      </h1>
      <div class="actions">
        {card.state === 'running' &&
          (asks ? (
            <button
              class="btn danger solid"
              type="button"
              ref={(button) => button?.focus()}
              onClick={() => void stop()}
              onBlur={() => setAsks(false)}
            >
              Stop it now
            </button>
          ) : (
            <button
              class="btn danger"
              type="button"
              disabled={!mayAct.value}
              title={mayAct.value ? 'Stop (x)' : 'This page may only look.'}
              onClick={() => setAsks(true)}
            >
              <Icon name="stop" />
              Stop
            </button>
          ))}
        <button
          class="icon-btn"
          type="button"
          aria-label="Copy the command"
          title="Copy the command"
          onClick={() => void copy()}
        >
          <Icon name="copy" />
        </button>
      </div>
      <p class="where">
        {card.shell !== null && (
          <span>
            shell <b>{showOdd(card.shell)}</b>
          </span>
        )}
        {card.name !== null && (
          <span>
            name <b>{showOdd(card.name)}</b>
          </span>
        )}
        <span>
          <code>{toPath(card.cwd, home)}</code>
        </span>
        {card.background && <span>in the background</span>}
        {card.ports.map((port) => (
          <span key={port}>
            port <b>{port}</b>
          </span>
        ))}
        <span>
          <code>{card.id}</code>
        </span>
      </p>
    </header>
  );
}

function NoOutput({ card, isGone }: { readonly card: CommandCard; readonly isGone: boolean }) {
  if (isGone)
    return (
      <Empty title="The output is gone.">
        <p>
          Output is kept for an hour after the end (<code>tombstone_seconds</code>); the setting{' '}
          <code>record</code> keeps it longer.
        </p>
      </Empty>
    );
  if (card.state === 'refused' || card.state === 'error')
    return (
      <Empty title={card.state === 'refused' ? 'It was refused, so nothing ran.' : 'It could not run.'}>
        <p>{showOdd(card.reason ?? '')}</p>
        {card.rule !== null && <p class="soft">Rule: {card.rule}</p>}
      </Empty>
    );
  return <Empty title={card.state === 'waiting' ? 'It waits for an answer.' : 'It has not started.'} />;
}

const verdictWords = { allow: 'Allowed', ask: 'Asks', deny: 'Refused' } as const;

function Why({ card }: { readonly card: CommandCard }) {
  if (card.verdict === null) return null;
  const names = [...new Set(card.programs.map(({ name }) => name))];
  const tone = card.verdict === 'allow' ? 'ok' : card.verdict === 'ask' ? 'wait' : 'warn';
  return (
    <section class="card part" aria-labelledby="why-title">
      <h2 id="why-title">{card.verdict === 'deny' ? 'Why it was refused' : 'Why it may run'}</h2>
      <p class="verdict">
        <span class={`tag ${tone}`}>{verdictWords[card.verdict]}</span>{' '}
        <span>{showOdd(card.reason ?? '')}</span>
      </p>
      <ul class="progs">
        {names.slice(0, 12).map((name) => (
          <li key={name}>
            <code>{showOdd(name)}</code>
          </li>
        ))}
        {card.rule !== null && <li class="soft">{card.rule}</li>}
      </ul>
      {card.acts.map((act) => (
        <p class="fine" key={act.at}>
          {act.kind} by {showOdd(act.by)}
          {act.note !== null && `: “${showOdd(act.note)}”`}
        </p>
      ))}
    </section>
  );
}

interface SeriesReply {
  readonly cpu: readonly number[];
  readonly memory: readonly number[];
}

function Uses({ card }: { readonly card: CommandCard }) {
  const isRunning = card.state === 'running';
  const { data, reload } = useFetched<SeriesReply>(`/api/series?command=${card.id}`);
  useEffect(() => {
    if (isRunning) reload();
  }, [isRunning && clock.value]);
  const cpu = data?.cpu.slice(-60) ?? [];
  const memory = data?.memory.slice(-60) ?? [];
  if (card.started_at === null) return null;
  const share = card.duration_ms ? Math.round(((card.cpu_ms ?? 0) / card.duration_ms) * 100) : 0;
  const percent = isRunning ? (cpu.at(-1) ?? 0) : share;
  return (
    <section class="card part" aria-labelledby="use-title">
      <h2 id="use-title">{isRunning ? 'Uses now' : 'Used'}</h2>
      <div class="meters">
        <div class="meter">
          <span>CPU</span>
          <Spark values={cpu} label={`CPU, ${percent} percent`} />
          <b>{percent} %</b>
        </div>
        <div class="meter">
          <span>Memory</span>
          <Spark values={memory} label="Memory, highest so far" tone="accent" />
          <b>{toSize(card.memory_bytes ?? 0)}</b>
        </div>
      </div>
    </section>
  );
}
