import { useEffect, useRef, useState } from 'preact/hooks';
import { ApiError, postJson } from '../api.ts';
import { notify } from '../notify.ts';
import { Icon } from '../parts/icon.tsx';
import { mayAct, now, runningCount } from '../store.ts';
import { mayOnlyLook } from '../words.ts';

// A `ref` from outside of the component is called when the button appears, and not with every render.
const takeFocus = (button: HTMLElement | null) => button?.focus();

/** A button that pauses every server, after a confirmation, or resumes them. */
export function Pause() {
  const [asks, setAsks] = useState(false);
  const isPaused = now.value?.paused ?? false;
  const running = runningCount.value;
  const button = useRef<HTMLButtonElement>(null);
  const wasAsked = useRef(false);
  // The button that had the focus is replaced by the question, and the question by a button.
  useEffect(() => {
    if (wasAsked.current && !asks) button.current?.focus();
    wasAsked.current = asks;
  }, [asks]);
  const act = async (paused: boolean) => {
    setAsks(false);
    try {
      await postJson('/api/pause', { paused });
      notify(paused ? 'Everything is paused.' : 'Commands run again.');
    } catch (error) {
      notify(error instanceof ApiError ? error.message : 'The server does not reply.');
    }
  };
  if (isPaused)
    return (
      <button
        class="btn wide"
        type="button"
        ref={button}
        disabled={!mayAct.value}
        title={mayAct.value ? 'Let commands run again' : mayOnlyLook}
        onClick={() => void act(false)}
      >
        <Icon name="play" />
        <span class="label">Resume</span>
      </button>
    );
  if (asks)
    return (
      // biome-ignore lint/a11y/useSemanticElements: a fieldset would add a border and a legend
      <div
        class="confirm"
        role="group"
        aria-label="Pause everything"
        onKeyDown={(event) => {
          if (event.key !== 'Escape') return;
          event.preventDefault();
          setAsks(false);
        }}
      >
        <p>
          {running === 0
            ? 'New commands will be refused.'
            : `This ends ${running === 1 ? '1 command' : `${running} commands`} and refuses new ones.`}
        </p>
        <button class="btn danger wide" type="button" onClick={() => void act(true)}>
          Pause now
        </button>
        <button class="btn quiet wide" type="button" ref={takeFocus} onClick={() => setAsks(false)}>
          Cancel
        </button>
      </div>
    );
  return (
    <button
      class="btn wide"
      type="button"
      ref={button}
      disabled={!mayAct.value}
      title={mayAct.value ? 'Pause everything' : mayOnlyLook}
      onClick={() => setAsks(true)}
    >
      <Icon name="pause" />
      <span class="label">Pause everything</span>
    </button>
  );
}
