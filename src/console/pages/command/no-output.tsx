import type { CommandCard } from '../../../contract/console.ts';
import { Empty } from '../../parts/states.tsx';
import { toStateWord } from '../../words.ts';
import { showOdd } from '../../worker/visible-text.ts';

/** Says why a command has no output. */
export function NoOutput({ card, isGone }: { readonly card: CommandCard; readonly isGone: boolean }) {
  if (card.state === 'refused' || card.state === 'error')
    return (
      <Empty title={toTitle(card)}>
        <p>{showOdd(card.reason ?? '')}</p>
        {card.hint !== null && <p>{showOdd(card.hint)}</p>}
        {card.remedy !== null && <p>To allow it: {showOdd(card.remedy)}</p>}
        {card.rule !== null && card.state === 'refused' && <p class="soft">Rule: {card.rule}</p>}
      </Empty>
    );
  if (isGone)
    return (
      <Empty title="The output is gone.">
        <p>
          Output is kept for <code>tombstone_seconds</code> after the end, an hour by default. The setting{' '}
          <code>record</code> keeps it longer.
        </p>
      </Empty>
    );
  return (
    <Empty title={`The command ${card.state === 'waiting' ? 'waits for an answer' : 'has not started'}.`} />
  );
}

function toTitle(card: CommandCard): string {
  if (card.state === 'error') return 'The command could not run.';
  return `The command was ${toStateWord(card).toLowerCase()}, so nothing ran.`;
}
