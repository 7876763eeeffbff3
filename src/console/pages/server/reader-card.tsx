import { useState } from 'preact/hooks';
import { choices, choose } from '../../choices.ts';
import { setNotifies } from '../../notifications.ts';

/** The user's preferences in this browser, and the button to sign out. */
export function ReaderCard() {
  const [problem, setProblem] = useState('');
  const { letters, speaks, notifies } = choices.value;
  return (
    <section class="card part" aria-labelledby="reader-title">
      <h2 id="reader-title">This browser</h2>
      <Choice isOn={notifies} onChange={(isOn) => void setNotifies(isOn).then(setProblem)}>
        Notify me when something needs me
      </Choice>
      {problem !== '' && (
        <p class="fine bad" role="alert">
          {problem}
        </p>
      )}
      <Choice isOn={letters} onChange={(isOn) => choose({ letters: isOn })}>
        Use single letters as shortcuts
      </Choice>
      <Choice isOn={speaks} onChange={(isOn) => choose({ speaks: isOn })}>
        Announce new lines of an output
      </Choice>
      <p>
        <button class="btn" type="button" onClick={() => void signOut()}>
          Sign out
        </button>
      </p>
    </section>
  );
}

function Choice({
  isOn,
  onChange,
  children,
}: {
  readonly isOn: boolean;
  readonly onChange: (isOn: boolean) => void;
  readonly children: string;
}) {
  return (
    <label class="check">
      <input type="checkbox" checked={isOn} onChange={(event) => onChange(event.currentTarget.checked)} />{' '}
      {children}
    </label>
  );
}

async function signOut(): Promise<void> {
  await fetch('/api/session', { method: 'DELETE' });
  window.location.assign('/');
}
