import { clock, link, now } from '../store.ts';
import { mayOnlyLook } from '../words.ts';

/** A line for each state that applies: lost connection, paused, a page that may only look. */
export function Connection() {
  const { state, again, reason } = link.value;
  const isPaused = now.value?.paused ?? false;
  const isViewer = now.value?.page.role === 'viewer';
  return (
    <>
      {state === 'lost' && (
        <p class="line lost" role="status">
          {reason === '' ? 'Connection lost, again' : `${reason} The page tries again`} in{' '}
          {Math.max(0, Math.ceil((again - clock.value) / 1_000))} s. The page may show old data.
        </p>
      )}
      {isPaused && (
        <p class="line paused" role="status">
          Everything is paused: commands are refused until you resume.
        </p>
      )}
      {isViewer && <p class="line viewer">{mayOnlyLook}</p>}
    </>
  );
}
