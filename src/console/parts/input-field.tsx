import { useState } from 'preact/hooks';
import type { CommandCard } from '../../contract/console.ts';
import { postJson, toSentence } from '../api.ts';
import { notify } from '../notify.ts';
import { mayAct } from '../store.ts';
import { mayOnlyLook } from '../words.ts';
import { showOdd } from '../worker/visible-text.ts';
import { KeyButtons } from './key-buttons.tsx';

const secretPrompt = /passw|passphrase|passcode|secret|token|\bpin\b|one-time|\botp\b/i;

/** A field for a command that waits for input. A secret is hidden here, in records and in the output. */
export function InputField({
  card: { id, terminal, reader },
  prompt,
  label = 'The command waits for input',
}: {
  readonly card: CommandCard;
  /** The last line that the command printed; if it asks for a password, the field hides what is typed. */
  readonly prompt: string;
  readonly label?: string;
}) {
  const field = `typed-${id}`;
  const [text, setText] = useState('');
  const [chosen, setSecret] = useState<boolean>();
  const isSecret = chosen ?? secretPrompt.test(prompt);
  const isOff = !mayAct.value;
  const send = async (body: object) => {
    try {
      await postJson(`/api/commands/${id}/type`, body);
      setText('');
    } catch (error) {
      notify(toSentence(error));
    }
  };
  return (
    <form
      class="input-field"
      onSubmit={(event) => {
        event.preventDefault();
        void send({ text: `${text}\n`, secret: isSecret });
      }}
    >
      <label for={field}>{label}</label>
      <input
        {...(isSecret ? { type: 'password' as const } : { type: 'text' as const })}
        id={field}
        autocomplete="off"
        disabled={isOff}
        value={text}
        onInput={(event) => setText(event.currentTarget.value)}
      />
      <label class="check">
        <input
          type="checkbox"
          checked={isSecret}
          disabled={isOff}
          onChange={(event) => setSecret(event.currentTarget.checked)}
        />{' '}
        secret
      </label>
      <button class="btn primary" type="submit" disabled={isOff}>
        Send
      </button>
      <KeyButtons hasTerminal={terminal} isOff={isOff} onKey={(body) => void send(body)} />
      {reader !== null && (
        <p class="fine">
          {showOdd(reader)} is blocked reading its {terminal ? 'terminal' : 'stdin'}.
        </p>
      )}
      {isOff && <p class="fine">{mayOnlyLook}</p>}
    </form>
  );
}
