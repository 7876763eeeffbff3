import { useEffect } from 'preact/hooks';
import type { AgentCard, CommandCard } from '../contract/console.ts';
import { onCards } from './store.ts';
import { type Fetched, useFetched } from './use-fetched.ts';

/** An agent and the commands of its session, oldest first. */
export interface Session {
  readonly agent: AgentCard;
  readonly commands: readonly CommandCard[];
}

const maxCommands = 5_000;

/** Fetches the session of an agent, and keeps it current. */
export function useSession(key: string): Fetched<Session> {
  const fetched = useFetched<Session>(`/api/agents/${encodeURIComponent(key)}`);
  const { data, set } = fetched;
  useEffect(
    () =>
      onCards((cards) => {
        const own = cards.filter(({ agent }) => agent === key);
        if (own.length > 0) set((before) => ({ ...before, commands: withChanges(before.commands, own) }));
      }),
    [key, data === undefined],
  );
  return fetched;
}

function withChanges(
  commands: readonly CommandCard[],
  changed: readonly CommandCard[],
): readonly CommandCard[] {
  const byId = new Map(changed.map((card) => [card.id, card]));
  const known = new Set(commands.map(({ id }) => id));
  const kept = commands.map((card) => byId.get(card.id) ?? card);
  return [...kept, ...changed.filter(({ id }) => !known.has(id))].slice(-maxCommands);
}
