import { useLayoutEffect, useState } from 'preact/hooks';
import type { CommandCard } from '../../../contract/console.ts';
import { ApiError, postJson } from '../../api.ts';
import { focusMain } from '../../focus.ts';
import { onKeys } from '../../keys.ts';
import { copyText, notify } from '../../notify.ts';
import { CommandText } from '../../parts/command-text.tsx';
import { Icon } from '../../parts/icon.tsx';
import { Status } from '../../parts/status.tsx';
import { mayAct, now } from '../../store.ts';
import { mayOnlyLook, toPath } from '../../words.ts';
import { showOdd } from '../../worker/visible-text.ts';

// The number of lines that fit in the heading.
const shownLines = 6;

/** The head of a command's page: state, text, directory and actions. */
export function CommandHead({ card, text }: { readonly card: CommandCard; readonly text: string }) {
  const home = now.value?.home ?? '';
  const count = text.split('\n').length;
  return (
    <header class="cmd-head">
      <Status card={card} />
      <h1 id="cmd-title">
        <CommandText
          text={text}
          programs={card.programs}
          piece={card.piece}
          allowedBy={card.rule === 'all_allowed' ? '*' : undefined}
        />
      </h1>
      <div class="actions">
        {card.state === 'running' && <StopButton id={card.id} />}
        <button
          class="icon-btn"
          type="button"
          aria-label="Copy the command"
          title="Copy the command"
          onClick={() => void copyText(text, 'The command is copied.')}
        >
          <Icon name="copy" />
        </button>
      </div>
      <p class="where">
        <Fact name="shell" value={card.shell} />
        <Fact name="name" value={card.name} />
        <span>
          <code>{toPath(card.cwd, home)}</code>
        </span>
        <Fact name="on" value={card.machine} />
        <Fact name="sandbox" value={card.sandbox} />
        <Fact name="network" value={card.network} />
        {count > shownLines && <span>{count} lines of text, scroll to see all</span>}
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

/** The button that stops a running command; it asks first. */
function StopButton({ id }: Pick<CommandCard, 'id'>) {
  const [asks, setAsks] = useState(false);
  const stop = async () => {
    focusMain();
    setAsks(false);
    try {
      await postJson(`/api/commands/${id}/stop`, {});
      notify('Stopped.');
    } catch (error) {
      notify(error instanceof ApiError ? error.message : 'The server does not reply.');
    }
  };
  useLayoutEffect(() =>
    onKeys({
      x: () => {
        if (mayAct.value) setAsks(true);
      },
    }),
  );
  if (asks)
    return (
      <button
        class="btn danger solid"
        type="button"
        ref={(button) => button?.focus()}
        onClick={() => void stop()}
        onBlur={() => setAsks(false)}
      >
        Stop it now
      </button>
    );
  return (
    <button
      class="btn danger"
      type="button"
      disabled={!mayAct.value}
      title={mayAct.value ? 'Stop (x)' : mayOnlyLook}
      onClick={() => setAsks(true)}
    >
      <Icon name="stop" />
      Stop
    </button>
  );
}

function Fact({ name, value }: { readonly name: string; readonly value: string | null }) {
  if (value === null) return null;
  return (
    <span>
      {name} <b>{showOdd(value)}</b>
    </span>
  );
}
