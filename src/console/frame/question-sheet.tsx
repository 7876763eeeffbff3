import { useEffect, useState } from 'preact/hooks';
import { Awaiting } from '../parts/awaiting.tsx';
import { Question } from '../parts/question.tsx';
import { Sheet } from '../parts/sheet.tsx';
import { place } from '../router.ts';
import { isNarrow } from '../screen.ts';
import { agentOf, awaitingInput, now, waitingCount } from '../store.ts';
import { toAgentName, toTitle } from '../words.ts';
import { showOdd } from '../worker/visible-text.ts';

/** On phones: a line above the bottom bar while a question or a prompt waits for the user; it opens a sheet with them. */
export function QuestionSheet() {
  const [isOpen, setOpen] = useState(false);
  const count = waitingCount.value;
  const [section = ''] = place.value.path;
  // The pages Now and Approvals show the questions themselves.
  const isShown = isNarrow.value && count > 0 && section !== '' && section !== 'approvals';
  useEffect(() => {
    if (!isShown) setOpen(false);
  }, [isShown]);
  if (!isShown) return null;
  return (
    <>
      <button class="peek" type="button" aria-haspopup="dialog" onClick={() => setOpen(true)}>
        <span class="tag wait">{count === 1 ? 'Needs you' : `${count} need you`}</span>
        <span class="peek-what">{describeFirst()}</span>
        <b>Review</b>
      </button>
      {isOpen && (
        <Sheet title={`Needs you (${count})`} onClose={() => setOpen(false)}>
          {now.value?.questions.map((question) => (
            <Question key={question.id} question={question} />
          ))}
          {awaitingInput.value.map((card) => (
            <Awaiting key={card.id} card={card} />
          ))}
        </Sheet>
      )}
    </>
  );
}

function describeFirst(): string {
  const question = now.value?.questions[0];
  const card = awaitingInput.value[0];
  const agent = agentOf(question?.agent ?? card?.agent ?? '');
  const who = agent ? toAgentName(agent) : showOdd(question?.client ?? '');
  return [who, toTitle(question?.asked.command ?? card?.command ?? '')].filter(Boolean).join(': ');
}
