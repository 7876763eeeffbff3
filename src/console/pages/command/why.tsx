import type { CommandCard } from '../../../contract/console.ts';
import { showOdd } from '../../worker/visible-text.ts';

const verdictWords = { allow: 'Allowed', ask: 'Asks', deny: 'Refused' } as const;

/** The decision about a command, with its rule and the answers of people. */
export function Why({ card }: { readonly card: CommandCard }) {
  if (card.verdict === null) return null;
  const names = [...new Set(card.programs.map(({ name }) => name))];
  const tone = card.verdict === 'allow' ? 'ok' : card.verdict === 'ask' ? 'wait' : 'warn';
  return (
    <section class="card part" aria-labelledby="why-title">
      <h2 id="why-title">{card.verdict === 'deny' ? 'Why it was refused' : 'Why it may run'}</h2>
      <p class="verdict">
        <span class={`tag ${tone}`}>{verdictWords[card.verdict]}</span>{' '}
        <span>{showOdd(card.reason ?? '')}</span>
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
