// An approval request. It never takes the focus, no letter is a shortcut, and the buttons ignore input for 600 ms after
// they appear or move, so that a click or key meant for another element never answers a request.
import { useEffect, useLayoutEffect, useRef, useState } from 'preact/hooks';
import type { QuestionCard } from '../../contract/console.ts';
import { ApiError, postJson } from '../api.ts';
import { focusMain } from '../focus.ts';
import { notify } from '../notify.ts';
import { agentOf, clock, mayAct, now } from '../store.ts';
import { mayOnlyLook, toAgentName, toName, toPath, toSpan } from '../words.ts';
import { showOdd } from '../worker/visible-text.ts';
import { CommandText } from './command-text.tsx';

const settleMs = 600;

/** Whether an element has stayed in place long enough for its buttons to accept input. */
function useSettled(element: { readonly current: HTMLElement | null }): () => boolean {
  const since = useRef(performance.now());
  const last = useRef('');
  useLayoutEffect(() => {
    const look = () => {
      const box = element.current?.getBoundingClientRect();
      const at = box ? `${Math.round(box.left)} ${Math.round(box.top + window.scrollY)}` : '';
      if (at !== last.current) since.current = performance.now();
      last.current = at;
    };
    look();
    const timer = setInterval(look, 100);
    return () => clearInterval(timer);
  }, []);
  return () => performance.now() - since.current >= settleMs;
}

/** Sends the answer to a request, once its buttons have stayed in place long enough. */
function useAnswer(question: QuestionCard, buttons: { readonly current: HTMLElement | null }) {
  const [failure, setFailure] = useState('');
  const [isSending, setSending] = useState(false);
  const isSettled = useSettled(buttons);
  const answer = async (kind: 'approved' | 'declined', note: string) => {
    if (!isSettled() || isSending) return;
    setSending(true);
    try {
      await postJson(`/api/approvals/${question.id}`, {
        answer: kind,
        digest: question.digest,
        ...(note !== '' && { note }),
      });
      if (buttons.current?.contains(document.activeElement)) focusMain();
      notify(kind === 'approved' ? 'Approved once.' : 'Denied.');
    } catch (error) {
      setFailure(error instanceof ApiError ? `${error.message} ${error.hint}` : 'The server does not reply.');
      setSending(false);
    }
  };
  return { answer, isSending, failure };
}

/** A request with its answers. */
export function Question({
  question,
  isWide = false,
}: {
  readonly question: QuestionCard;
  readonly isWide?: boolean;
}) {
  const { asked } = question;
  const buttons = useRef<HTMLDivElement>(null);
  const [note, setNote] = useState('');
  const [isRead, setRead] = useState(false);
  const { answer, isSending, failure } = useAnswer(question, buttons);
  const agent = agentOf(question.agent);
  const left = Math.max(0, Date.parse(question.until) - clock.value);
  const title = `ask-${question.id}`;
  const isOff = !mayAct.value || isSending;
  return (
    <article class={`card ask${isWide ? ' wide' : ''}`} aria-labelledby={title} id={question.id}>
      <header>
        <span class="tag wait">Needs you</span>
        <span class="left">{toSpan(left)} left</span>
      </header>
      <h2 id={title} class="ask-who">
        {agent ? toAgentName(agent) : toName(question.client, 'A client without a name')}{' '}
        {asked.changes === null ? 'asks to run' : 'asks to apply the changes of'}
      </h2>
      <Asked question={question} onRead={() => setRead(true)} />
      <p class="why">
        {showOdd(question.reason)} <span class="soft">({question.rule})</span>
      </p>
      <label class="note">
        <span class="sr">A note to the agent</span>
        <input
          type="text"
          maxLength={2_000}
          placeholder="Tell the agent why, or what instead"
          value={note}
          disabled={!mayAct.value}
          onInput={(event) => setNote(event.currentTarget.value)}
        />
      </label>
      <div class="answers" ref={buttons}>
        <button
          class="btn primary"
          type="button"
          disabled={isOff || !isRead}
          onClick={() => void answer('approved', note)}
        >
          Approve once
        </button>
        <button
          class="btn danger"
          type="button"
          disabled={isOff}
          onClick={() => void answer('declined', note)}
        >
          Deny
        </button>
      </div>
      {!mayAct.value && <p class="fine">{mayOnlyLook}</p>}
      {mayAct.value && !isRead && <p class="fine">Scroll to the end of the request to approve it.</p>}
      {failure !== '' && (
        <p class="fine bad" role="alert">
          {failure}
        </p>
      )}
    </article>
  );
}

/** The text of a request in a box that scrolls; `onRead` is called once its end is visible. */
function Asked({
  question: { asked, programs },
  onRead,
}: {
  readonly question: QuestionCard;
  readonly onRead: () => void;
}) {
  const body = useRef<HTMLDivElement>(null);
  const noteRead = () => {
    const box = body.current;
    if (box && box.scrollTop + box.clientHeight >= box.scrollHeight - 2) onRead();
  };
  useEffect(noteRead, []);
  return (
    // biome-ignore lint/a11y/useSemanticElements: a fieldset is for fields
    <div
      class="asked-all"
      ref={body}
      onScroll={noteRead}
      // biome-ignore lint/a11y/noNoninteractiveTabindex: a long command has to be scrollable by keyboard
      tabIndex={0}
      role="group"
      aria-label="What is asked"
    >
      <pre class="asked">
        <CommandText text={asked.command} programs={programs} />
      </pre>
      <AskedFacts asked={asked} />
    </div>
  );
}

function AskedFacts({ asked }: Pick<QuestionCard, 'asked'>) {
  const home = now.value?.home ?? '';
  return (
    <dl class="facts-list">
      {asked.on !== null && <Fact name="on" value={asked.on} />}
      <Fact name="in" value={toPath(asked.cwd, home)} />
      {asked.into !== null && <Fact name="into" value={asked.into} />}
      {asked.sandbox !== null && <Fact name="sandbox" value={asked.sandbox} />}
      {Object.entries(asked.env).map(([name, value]) => (
        <Fact key={name} name={name} value={value} />
      ))}
      {asked.input !== null && <Fact name="stdin" value={asked.input} />}
      {asked.changes !== null && <Fact name="changed" value={asked.changes.join('\n')} />}
    </dl>
  );
}

function Fact({ name, value }: { readonly name: string; readonly value: string }) {
  return (
    <div>
      <dt>{showOdd(name)}</dt>
      <dd>
        <code>{showOdd(value)}</code>
      </dd>
    </div>
  );
}
