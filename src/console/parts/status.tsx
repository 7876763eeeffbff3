import { computed } from '@preact/signals';
import { useMemo } from 'preact/hooks';
import type { CommandCard } from '../../contract/console.ts';
import { clock } from '../store.ts';
import { stateShapes, toAgo, toSpan, toStateWord, toTone } from '../words.ts';

/** The shape of a state, for lists. */
export function Shape({ card }: { readonly card: CommandCard }) {
  const { state } = card;
  return (
    <span class={`shape ${toTone(state)}`}>
      <span aria-hidden="true">{stateShapes[state]}</span>
      <span class="sr">{toStateWord(card)}</span>
    </span>
  );
}

/** The state of a command with its time, for its own page. */
export function Status({ card }: { readonly card: CommandCard }) {
  const runtime = toRuntime(card, clock.value);
  return (
    <span class={`status ${toTone(card.state)}`}>
      {card.state === 'running' ? (
        <span class="spin" aria-hidden="true" />
      ) : (
        <span aria-hidden="true">{stateShapes[card.state]}</span>
      )}
      {toStateWord(card)}
      {card.state === 'failed' && card.exit_code !== null ? ` (exit ${card.exit_code})` : ''}
      {runtime !== '' && <time> {runtime}</time>}
    </span>
  );
}

/** How long a command has run, or ran. Every second only its text is changed, if it is another one, and nothing is rendered. */
export function Runtime({ card }: { readonly card: CommandCard }) {
  const words = useMemo(
    () =>
      computed(() =>
        card.state === 'asked' ? toAgo(card.asked_at, clock.value) : toRuntime(card, clock.value),
      ),
    [card],
  );
  return <>{words}</>;
}

// How long a command has run, or ran.
function toRuntime({ duration_ms, started_at, state }: CommandCard, at: number): string {
  if (duration_ms !== null) return toSpan(duration_ms);
  return state === 'running' && started_at !== null ? toSpan(Math.max(0, at - Date.parse(started_at))) : '';
}
