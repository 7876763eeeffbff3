import { useEffect, useRef, useState } from 'preact/hooks';
import type { CommandCard } from '../../../contract/console.ts';
import { isOpen } from '../../card-states.ts';
import { toEnd, toSpan, toStateWord, toTitle } from '../../words.ts';

/** A live region that announces to screen readers when the command ends or starts to wait for input. */
export function StateAnnouncement({ card }: { readonly card: CommandCard }) {
  const [words, setWords] = useState('');
  const wasOpen = useRef(isOpen(card));
  const wasAwaiting = useRef(card.awaiting);
  useEffect(() => {
    if (wasOpen.current && !isOpen(card)) setWords(describeEnd(card));
    else if (card.awaiting && !wasAwaiting.current) setWords(`${toTitle(card.command)} waits for input.`);
    wasOpen.current = isOpen(card);
    wasAwaiting.current = card.awaiting;
  }, [card]);
  return (
    <p class="sr" role="status" aria-live="polite">
      {words}
    </p>
  );
}

function describeEnd(card: CommandCard): string {
  const took = card.duration_ms === null ? '' : ` after ${toSpan(card.duration_ms)}`;
  return `${toTitle(card.command)}: ${toEnd(card) || toStateWord(card).toLowerCase()}${took}.`;
}
