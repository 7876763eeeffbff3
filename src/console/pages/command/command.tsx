import { useEffect, useLayoutEffect } from 'preact/hooks';
import type { AgentCard, CommandCard, RecordRow } from '../../../contract/console.ts';
import { isOpen } from '../../card-states.ts';
import { onKeys } from '../../keys.ts';
import { LogView } from '../../log/log-view.tsx';
import { usePrompt } from '../../parts/awaiting.tsx';
import { InputField } from '../../parts/input-field.tsx';
import { Question } from '../../parts/question.tsx';
import { RecordList } from '../../parts/record-list.tsx';
import { Failure, Loading } from '../../parts/states.tsx';
import { place, setQuery } from '../../router.ts';
import { onCards, opened, questionsOf } from '../../store.ts';
import { SessionOf } from '../../timeline/session-timeline.tsx';
import { useFetched } from '../../use-fetched.ts';
import { CommandHead } from './command-head.tsx';
import { NoOutput } from './no-output.tsx';
import { StateAnnouncement } from './state-announcement.tsx';
import { Tab } from './tab.tsx';
import { Uses } from './uses.tsx';
import { Why } from './why.tsx';

interface CommandReply {
  readonly card: CommandCard;
  readonly text: unknown;
  readonly records: readonly RecordRow[];
  readonly output: 'live' | 'recorded' | 'gone';
  readonly agent: AgentCard | null;
}

/** The page of one command: its output and records, the decision about it, and the resources that it uses. */
export function CommandPage({ id }: { readonly id: string }) {
  const { data, error, set, reload } = useFetched<CommandReply>(`/api/commands/${encodeURIComponent(id)}`);
  const tab = place.value.query.get('view') === 'records' ? 'records' : 'output';
  const setTab = (view: 'output' | 'records') => setQuery({ view: view === 'output' ? '' : view });
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
  useEffect(() => {
    opened.value = data?.card;
  }, [data?.card]);
  useLayoutEffect(() => onKeys({ 1: () => setTab('output'), 2: () => setTab('records') }));
  if (error) return <Failure error={error} onRetry={reload} isPage />;
  if (data?.card.id !== id) return <Loading page="Command" />;
  const { card } = data;
  const hasOutput = card.started_at !== null && data.output !== 'gone';
  return (
    <div class="grid">
      {data.agent && <SessionOf agent={data.agent} chosen={card.id} />}
      <article class="command card" aria-labelledby="cmd-title">
        <StateAnnouncement card={card} />
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
          {card.awaiting && <PromptField card={card} />}
        </div>
      </article>
      <aside class="side" aria-label="About this command">
        {questionsOf(card.agent).map((question) => (
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

function PromptField({ card }: { readonly card: CommandCard }) {
  return <InputField card={card} prompt={usePrompt(card)} />;
}

function toText(text: unknown, card: CommandCard): string {
  if (typeof text === 'string') return text;
  return Array.isArray(text) ? text.join(' ') : card.command;
}
