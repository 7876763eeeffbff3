import type { CommandCard, PersonAct } from '../../contract/console.ts';
import { toTitle } from '../words.ts';
import { showOdd } from '../worker/visible-text.ts';
import { ClockTime } from './clock-time.tsx';

const kinds = {
  approved: { words: 'Approved', tone: 'ok' },
  declined: { words: 'Denied', tone: 'warn' },
  stop: { words: 'Stopped', tone: 'bad' },
  input: { words: 'Typed into', tone: 'plain' },
} as const;

/** An action of a person on a command, with the person's note. */
export function ActRow({ card, act }: { readonly card: CommandCard; readonly act: PersonAct }) {
  const { words, tone } = kinds[act.kind];
  return (
    <li>
      <span class={`tag ${tone}`}>{words}</span>
      <a data-row href={`/commands/${card.id}`}>
        <code>{toTitle(card.command)}</code>
      </a>
      <span class="soft">
        by {showOdd(act.by)}, <ClockTime at={act.at} />
      </span>
      {act.note !== null && <q>{showOdd(act.note)}</q>}
    </li>
  );
}
