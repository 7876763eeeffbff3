import type { CommandCard } from '../../contract/console.ts';
import { choices } from '../choices.ts';
import { place } from '../router.ts';
import { now, opened } from '../store.ts';
import { toAgentName, toTitle } from '../words.ts';

/** The pages of the console: path, label and icon. */
export const sections = [
  ['', 'Now', 'now'],
  ['commands', 'Commands', 'commands'],
  ['agents', 'Agents', 'agents'],
  ['approvals', 'Approvals', 'approvals'],
  ['audit', 'Audit', 'audit'],
  ['server', 'Server', 'server'],
] as const;

/** A page of the console. */
export type Section = (typeof sections)[number];

/** The address of a page; of Commands with the filters that were chosen last. */
export function toAddress(path: string): string {
  const { filters } = choices.value;
  const isElsewhere = place.value.path[0] !== 'commands' || place.value.path.length > 1;
  return path === 'commands' && filters !== '' && isElsewhere ? `/commands?${filters}` : `/${path}`;
}

/** The title of the current page. */
export function toPageTitle(): string {
  const [section = '', id] = place.value.path;
  const name = sections.find(([path]) => path === section)?.[1] ?? 'Now';
  return id === undefined ? name : `${toCrumb(section, id)} · ${name}`;
}

/** The name of a command or an agent, for titles. */
export function toCrumb(section: string, id: string): string {
  if (section === 'agents') {
    const agent = now.value?.agents.find(({ key }) => key === id);
    return agent ? toAgentName(agent) : id;
  }
  const card = findCard(id);
  return card ? toTitle(card.command) : id;
}

/** The command with this id, if it is open, failed lately, or is the one whose page was opened last. */
export function findCard(id: string): CommandCard | undefined {
  const { running = [], failed = [] } = now.value ?? {};
  return [...running, ...failed, opened.value].find((one) => one?.id === id);
}
