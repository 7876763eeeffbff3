import type { AgentCard, AgentList } from '../../../contract/console.ts';

const maxAgents = 200;

/** Sorts agents, those that were active last first. */
export function byActivity(one: AgentCard, other: AgentCard): number {
  if (one.last !== other.last) return one.last < other.last ? 1 : -1;
  return one.key < other.key ? 1 : -1;
}

/**
 * A page of sorted agents. A position is the time and the key of the last agent of a page, so that no agent is left out
 * if others become active between two pages.
 */
export function pageOfAgents(all: readonly AgentCard[], after?: string): AgentList {
  const rest = after === undefined ? all : all.filter((agent) => toPosition(agent) < after);
  const agents = rest.slice(0, maxAgents);
  const last = agents.at(-1);
  return { agents, total: all.length, next: last && rest.length > maxAgents ? toPosition(last) : null };
}

function toPosition({ last, key }: AgentCard): string {
  return `${last} ${key}`;
}
