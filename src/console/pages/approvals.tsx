import { useEffect } from 'preact/hooks';
import type { CommandCard, QuestionCard } from '../../contract/console.ts';
import { ActRow } from '../parts/act-row.tsx';
import { Awaiting } from '../parts/awaiting.tsx';
import { CommandRows } from '../parts/command-rows.tsx';
import { Question } from '../parts/question.tsx';
import { Empty, Failure, Loading } from '../parts/states.tsx';
import { awaitingInput, now } from '../store.ts';
import { useFetched } from '../use-fetched.ts';

interface ApprovalsReply {
  readonly questions: readonly QuestionCard[];
  readonly approval_off: string | null;
  readonly answered: readonly CommandCard[];
}

/** The page that lists open questions and earlier answers. */
export function ApprovalsPage() {
  const { data, error, reload } = useFetched<ApprovalsReply>('/api/approvals');
  const questions = now.value?.questions ?? data?.questions ?? [];
  useEffect(reload, [questions.length]);
  if (error) return <Failure error={error} onRetry={reload} isPage />;
  if (!data) return <Loading page="Approvals" />;
  return (
    <div class="stack narrow">
      <h1 class="sr">Approvals</h1>
      {data.approval_off !== null && <p class="notice">{data.approval_off}</p>}
      {awaitingInput.value.map((card) => (
        <Awaiting key={card.id} card={card} />
      ))}
      {questions.length + awaitingInput.value.length === 0 ? (
        <div class="card part">
          <Empty title="Nothing waits for you.">
            <p class="soft">
              A rule with the verdict <code>ask</code>, or the setting <code>confirm</code>, makes a command
              wait here.
            </p>
          </Empty>
        </div>
      ) : (
        questions.map((question) => <Question key={question.id} question={question} isWide />)
      )}
      <section class="card fill" aria-labelledby="answered-title">
        <header class="list-head">
          <h2 id="answered-title">Answered</h2>
        </header>
        {data.answered.length === 0 ? (
          <p class="soft pad">No answer yet.</p>
        ) : (
          <ul class="answer-list">
            {data.answered.slice(0, 50).map((card) => (
              <Answered key={card.id} card={card} />
            ))}
          </ul>
        )}
      </section>
    </div>
  );
}

function Answered({ card }: { readonly card: CommandCard }) {
  const act = card.acts.find(({ kind }) => kind === 'approved' || kind === 'declined');
  if (!act) return <CommandRows cards={[card]} label="Command" />;
  return <ActRow card={card} act={act} />;
}
