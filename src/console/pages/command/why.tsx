import type { CommandCard } from '../../../contract/console.ts';
import { showOdd } from '../../worker/visible-text.ts';

const verdictTags = {
  allow: { words: 'Allowed', tone: 'ok' },
  ask: { words: 'Ask', tone: 'wait' },
  deny: { words: 'Refused', tone: 'warn' },
} as const;
const notRun = { words: 'Not run', tone: 'bad' } as const;

function toHeading({ verdict, state }: CommandCard): string {
  if (verdict === 'deny' || (state === 'refused' && verdict !== 'ask')) return 'Why it was refused';
  if (state === 'error') return 'Why it could not run';
  if (state === 'waiting') return 'Why it asks';
  return verdict === 'ask' ? 'Why it asked' : 'Why it may run';
}

/** The decision about a command, with its rule and the answers of people. */
export function Why({ card }: { readonly card: CommandCard }) {
  if (card.verdict === null) return null;
  const names = [...new Set(card.programs.map(({ name }) => name))];
  const tag = card.state === 'error' ? notRun : verdictTags[card.verdict];
  return (
    <section class="card part" aria-labelledby="why-title">
      <h2 id="why-title">{toHeading(card)}</h2>
      <p class="verdict">
        <span class={`tag ${tag.tone}`}>{tag.words}</span> <span>{showOdd(card.reason ?? '')}</span>
      </p>
      <ul class="progs">
        {names.slice(0, 12).map((name) => (
          <li key={name}>
            <code>{showOdd(name)}</code>
          </li>
        ))}
        {card.rule !== null && <li class="soft">{card.rule}</li>}
      </ul>
      {card.acts.map((act) => (
        <p class="fine" key={act.at}>
          {act.kind} by {showOdd(act.by)}
          {act.note !== null && `: “${showOdd(act.note)}”`}
        </p>
      ))}
    </section>
  );
}
