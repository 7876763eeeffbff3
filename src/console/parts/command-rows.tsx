import type { CommandCard } from '../../contract/console.ts';
import { agentOf, now } from '../store.ts';
import { toAgentName, toClock, toEnd, toPath, toSize, toTitle, toTone } from '../words.ts';
import { showOdd } from '../worker/visible-text.ts';
import { Spark } from './spark.tsx';
import { Runtime, Shape } from './status.tsx';

/** Commands as rows, each a link. */
export function CommandRows({
  cards,
  withAgent = true,
  label,
}: {
  readonly cards: readonly CommandCard[];
  readonly withAgent?: boolean;
  readonly label: string;
}) {
  return (
    <ul class="rows-list" aria-label={label}>
      {cards.map((card) => (
        <CommandRow key={card.id} card={card} withAgent={withAgent} />
      ))}
    </ul>
  );
}

function CommandRow({ card, withAgent }: { readonly card: CommandCard; readonly withAgent: boolean }) {
  const agent = agentOf(card.agent);
  const bytes = card.stdout_bytes + card.stderr_bytes;
  const at = card.started_at ?? card.asked_at;
  return (
    <li>
      <a class={`row${withAgent ? '' : ' own'}`} data-row href={`/commands/${card.id}`}>
        <Shape card={card} />
        <time class="when" dateTime={at} title={at}>
          {toClock(at, false)}
        </time>
        <code class="what">{showOdd(toTitle(card.command))}</code>
        <span class={`end ${card.awaiting ? 'wait' : toTone(card.state)}`}>
          {card.awaiting ? 'waits for input' : card.state === 'running' ? '' : toEnd(card)}
        </span>
        <span class="took">
          <Runtime card={card} />
        </span>
        {withAgent && <span class="who">{agent ? toAgentName(agent) : ''}</span>}
        <span class="place">{toPlace(card)}</span>
        <span class="size">{bytes > 0 ? toSize(bytes) : ''}</span>
      </a>
    </li>
  );
}

function toPlace({ machine, shell, background, cwd }: CommandCard): string {
  const folder =
    toPath(cwd, now.value?.home ?? '')
      .split('/')
      .at(-1) ?? '';
  const place = shell === null ? (background ? 'background' : folder) : showOdd(shell);
  return machine === null ? place : `${showOdd(machine)}: ${place}`;
}

/** A running command on the page Now. */
export function RunningRow({ card }: { readonly card: CommandCard }) {
  const agent = agentOf(card.agent);
  return (
    <li>
      <a class="running-row" data-row href={`/commands/${card.id}`}>
        <Shape card={card} />
        <code class="what">{showOdd(toTitle(card.command))}</code>
        <span class="took">
          <Runtime card={card} />
        </span>
        <span class="sub">
          {agent ? toAgentName(agent) : card.agent}
          {card.machine !== null && <span>on {showOdd(card.machine)}</span>}
          {card.awaiting && <b class="wait"> waits for input</b>}
          {card.ports.map((port) => (
            <span key={port} class="port">
              :{port}
            </span>
          ))}
          {card.cpu_percent !== null && (
            <span class="cpu-now">
              <Spark values={card.cpu_recent} label="CPU" height={14} isDecorative />
              {card.cpu_percent} % CPU
            </span>
          )}
          {card.memory_bytes !== null && card.memory_bytes > 0 && <span>{toSize(card.memory_bytes)}</span>}
        </span>
      </a>
    </li>
  );
}
