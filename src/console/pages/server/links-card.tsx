import { useState } from 'preact/hooks';
import { postJson, toSentence } from '../../api.ts';
import { mayAct } from '../../store.ts';
import { mayOnlyLook } from '../../words.ts';

/** Creates links for other people and devices, with the role viewer or operator. */
export function LinksCard() {
  const [name, setName] = useState('');
  const [link, setLink] = useState('');
  const [failure, setFailure] = useState('');
  const make = async (role: 'viewer' | 'operator') => {
    try {
      const reply = await postJson<{ link: string }>('/api/link', { role, name });
      setLink(reply.link);
      setFailure('');
    } catch (error) {
      setFailure(toSentence(error));
    }
  };
  return (
    <section class="card part" aria-labelledby="links-title">
      <h2 id="links-title">Links to this console</h2>
      <p class="soft">A link works once, within ten minutes. A viewer's page may only look.</p>
      <div class="link-form">
        <label class="note">
          <span class="sr">Name of the page</span>
          <input
            type="text"
            maxLength={40}
            placeholder="Name, such as phone"
            value={name}
            disabled={!mayAct.value}
            onInput={(event) => setName(event.currentTarget.value)}
          />
        </label>
        <button class="btn" type="button" disabled={!mayAct.value} onClick={() => void make('viewer')}>
          Link for a viewer
        </button>
        <button class="btn" type="button" disabled={!mayAct.value} onClick={() => void make('operator')}>
          Link for an operator
        </button>
      </div>
      {!mayAct.value && <p class="fine">{mayOnlyLook}</p>}
      {link !== '' && (
        <p class="made">
          <code>{link}</code>
        </p>
      )}
      {failure !== '' && (
        <p class="bad" role="alert">
          {failure}
        </p>
      )}
    </section>
  );
}
