import { useState } from 'preact/hooks';
import { ApiError, postJson } from '../api.ts';
import { notify } from '../notify.ts';

const secretPrompt = /passw|passphrase|passcode|secret|token|\bpin\b|one-time|\botp\b/i;

/** A field for a command that waits for input. A secret is hidden here, in records and in the output. */
export function InputField({
  id,
  prompt,
  label = 'The command waits for input',
}: {
  readonly id: string;
  /** The last line that the command printed; if it asks for a password, the field hides what is typed. */
  readonly prompt: string;
  readonly label?: string;
}) {
  const field = `typed-${id}`;
  const [text, setText] = useState('');
  const [chosen, setSecret] = useState<boolean>();
  const isSecret = chosen ?? secretPrompt.test(prompt);
  const send = async (body: object) => {
    try {
      await postJson(`/api/commands/${id}/type`, body);
      setText('');
    } catch (error) {
      notify(error instanceof ApiError ? error.message : 'The server does not reply.');
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
        value={text}
        onInput={(event) => setText(event.currentTarget.value)}
      />
      <label class="check">
        <input
          type="checkbox"
          checked={isSecret}
          onChange={(event) => setSecret(event.currentTarget.checked)}
        />{' '}
        secret
      </label>
      <button class="btn primary" type="submit">
        Send
      </button>
      <button class="btn" type="button" onClick={() => void send({ keys: ['ctrl-c'] })}>
        Ctrl C
      </button>
      <button class="btn" type="button" onClick={() => void send({ eof: true })}>
        End of input
      </button>
    </form>
  );
}
