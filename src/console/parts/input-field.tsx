import { useState } from 'preact/hooks';
import { ApiError, postJson } from '../api.ts';
import { notify } from './toast.tsx';

/** A field for a command that waits for input. A secret is hidden here, in records and in the output. */
export function InputField({ id }: { readonly id: string }) {
  const field = `typed-${id}`;
  const [text, setText] = useState('');
  const [isSecret, setSecret] = useState(false);
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
      <label for={field}>It waits for input</label>
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
