// The filters of the page Commands. They are query parameters of its address, and can also be typed: `agent:codex outcome:failed push`.
import type { AgentCard } from '../../contract/console.ts';
import { toAgentName } from '../words.ts';

/** The names of the filters, which are also query parameters; `q` is the words. */
export const filterNames = ['q', 'agent', 'program', 'outcome', 'cwd', 'since'] as const;

/** One of the filters. */
export type FilterName = (typeof filterNames)[number];

const typed = /(?<=^|\s)(agent|program|outcome|cwd|since):(\S+)/g;

/** Parses typed filters; text that is no filter becomes `q`, which may be empty. `~` in `cwd:` is the home directory. */
export function readFilters(
  text: string,
  agents: readonly AgentCard[],
  home: string,
): Partial<Record<FilterName, string>> {
  const filters: Partial<Record<FilterName, string>> = {};
  for (const [, name = '', value = ''] of text.matchAll(typed)) {
    if (name === 'agent') filters.agent = findAgent(value, agents);
    else if (name === 'cwd') filters.cwd = value.replace(/^~(?=\/|$)/, home);
    else filters[name as FilterName] = value;
  }
  return { ...filters, q: text.replace(typed, '').replace(/\s+/g, ' ').trim() };
}

function findAgent(value: string, agents: readonly AgentCard[]): string {
  const wanted = value.toLowerCase();
  const found = agents.find(
    (agent) => agent.key === value || toAgentName(agent).toLowerCase().includes(wanted),
  );
  return found?.key ?? value;
}
