import { useMemo } from 'preact/hooks';
import type { CommandCard } from '../../contract/console.ts';
import { agentOf, home, today } from '../store.ts';
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
        <CommandRow key={card.id} card={card} who={withAgent ? toWho(card, '') : undefined} />
      ))}
    </ul>
  );
}

// While something runs, lists are rendered every second, but Preact skips an element that is the same object as before.
function CommandRow({ card, who }: { readonly card: CommandCard; readonly who: string | undefined }) {
  const homeFolder = home.value;
  return useMemo(() => toRow(card, who, homeFolder), [card, who, homeFolder, today.value]);
}

// Without `who` the row has no column for the agent.
function toRow(card: CommandCard, who: string | undefined, homeFolder: string) {
  const bytes = card.stdout_bytes + card.stderr_bytes;
  const at = card.started_at ?? card.asked_at;
  return (
    <li>
      <a class={`row${who === undefined ? ' own' : ''}`} data-row href={`/commands/${card.id}`}>
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
        {who !== undefined && <span class="who">{who}</span>}
        <span class="place">{toPlace(card, homeFolder)}</span>
        <span class="size">{bytes > 0 ? toSize(bytes) : ''}</span>
      </a>
    </li>
  );
}

function toWho({ agent }: CommandCard, unknown: string): string {
  const found = agentOf(agent);
  return found ? toAgentName(found) : unknown;
}

function toPlace({ machine, shell, background, cwd }: CommandCard, homeFolder: string): string {
  const folder = toPath(cwd, homeFolder).split('/').at(-1) ?? '';
  const place = shell === null ? (background ? 'background' : folder) : showOdd(shell);
  return machine === null ? place : `${showOdd(machine)}: ${place}`;
}

/** A running command on the page Now. */
export function RunningRow({ card }: { readonly card: CommandCard }) {
  const who = toWho(card, card.agent);
  return useMemo(() => toRunningRow(card, who), [card, who]);
}

function toRunningRow(card: CommandCard, who: string) {
  return (
    <li>
      <a class="running-row" data-row href={`/commands/${card.id}`}>
        <Shape card={card} />
        <code class="what">{showOdd(toTitle(card.command))}</code>
        <span class="took">
          <Runtime card={card} />
        </span>
        <span class="sub">
          {who}
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
          {card.memory_bytes !== null && card.memory_bytes > 0 && (
            <span class="memory-now">{toSize(card.memory_bytes)}</span>
          )}
        </span>
      </a>
    </li>
  );
}
