// Formats amounts, times and states.
import type { AgentCard, CardState, CommandCard } from '../contract/console.ts';
import { showOdd } from './worker/visible-text.ts';

/** `1 m 42 s`, `40 ms`. */
export function toSpan(ms: number): string {
  if (ms < 1_000) return `${Math.round(ms)} ms`;
  if (ms < 10_000) return `${(ms / 1_000).toFixed(1)} s`;
  const seconds = Math.floor(ms / 1_000);
  if (seconds < 60) return `${seconds} s`;
  if (seconds < 3_600) return toTwoUnits(seconds, 60, 'm', 's');
  const hours = Math.floor(seconds / 3_600);
  return hours < 48 ? toTwoUnits(Math.floor(seconds / 60), 60, 'h', 'm') : toTwoUnits(hours, 24, 'd', 'h');
}

// `2 h 5 m`, or `2 h` if nothing is left for the small unit.
function toTwoUnits(amount: number, each: number, large: string, small: string): string {
  const rest = amount % each;
  return `${Math.floor(amount / each)} ${large}${rest === 0 ? '' : ` ${rest} ${small}`}`;
}

/** `48.1 KB`. */
export function toSize(bytes: number): string {
  if (bytes < 1_000) return `${bytes} B`;
  const units = ['KB', 'MB', 'GB', 'TB'];
  let [value, unit] = [bytes / 1_000, 0];
  for (; value >= 1_000 && unit < units.length - 1; unit += 1) value /= 1_000;
  return `${value < 100 ? value.toFixed(1) : Math.round(value)} ${units[unit]}`;
}

/** `1,204`. */
export function toCount(count: number): string {
  return count.toLocaleString('en-US');
}

/** `1 line`, `1,204 lines`. */
export function toAmount(count: number, one: string, many = `${one}s`): string {
  return `${toCount(count)} ${count === 1 ? one : many}`;
}

/** The local time: `14:21:07`, with the day if it is another one. */
export function toClock(iso: string, withSeconds = true): string {
  const date = new Date(iso);
  const time = date.toLocaleTimeString([], {
    hour: '2-digit',
    minute: '2-digit',
    ...(withSeconds && { second: '2-digit' }),
    hourCycle: 'h23',
  });
  const isToday = date.toDateString() === new Date().toDateString();
  return isToday ? time : `${date.toLocaleDateString([], { month: 'short', day: 'numeric' })} ${time}`;
}

/** `4 m ago`. */
export function toAgo(iso: string, at: number): string {
  const ms = Math.max(0, at - Date.parse(iso));
  if (ms < 5_000) return 'now';
  if (ms < 60_000) return `${Math.floor(ms / 1_000)} s ago`;
  if (ms < 3_600_000) return `${Math.floor(ms / 60_000)} m ago`;
  return ms < 86_400_000 ? `${Math.floor(ms / 3_600_000)} h ago` : `${Math.floor(ms / 86_400_000)} d ago`;
}

/** A path with `~` for the home directory. */
export function toPath(path: string | null, home: string): string {
  if (path === null) return '';
  return showOdd(path === home ? '~' : path.startsWith(`${home}/`) ? `~${path.slice(home.length)}` : path);
}

const doors: Readonly<Record<string, string>> = {
  mcp: 'over MCP',
  http: 'over HTTP',
  cli: 'on the command line',
  functions: 'through the library',
};

/** The door of a command: `over MCP`, `on the command line`. */
export function toDoor(door: string): string {
  return doors[door] ?? `over ${door}`;
}

/** `claude-code · web-shop`. */
export function toAgentName({
  client,
  folder,
  door,
  key,
}: Pick<AgentCard, 'client' | 'folder' | 'door' | 'key'>): string {
  const who = key === 'terminal' ? 'terminal' : client;
  const place = folder?.split('/').at(-1) ?? '';
  return showOdd(
    [isBlank(who) ? door : who, place]
      .filter((name) => !isBlank(name))
      .map(cutName)
      .join(' · '),
  );
}

/** Whether nothing of a text is visible. `showOdd` makes other characters without a shape visible. */
export function isBlank(text: string): boolean {
  return /^[\s\u2800]*$/.test(text);
}

/** A name as text that is safe to show; one without a visible character is replaced. */
export function toName(name: string, replacement: string): string {
  return isBlank(name) ? replacement : showOdd(name);
}

const maxName = 60;

function cutName(name: string): string {
  return name.length > maxName ? `${name.slice(0, maxName - 1).toWellFormed()}…` : name;
}

/** The first line of a command that is not blank, short enough for a title. */
export function toTitle(command: string): string {
  const line = command.split('\n').find((one) => !isBlank(one)) ?? '(blank)';
  return showOdd(line.length > 60 ? `${line.slice(0, 59)}…` : line);
}

/** Says why the actions of a viewer's page are disabled. */
export const mayOnlyLook = 'This page may only look.';

/** The word for a state. */
export const stateWords: Readonly<Record<CardState, string>> = {
  asked: 'Asked',
  waiting: 'Needs you',
  running: 'Running',
  completed: 'Done',
  failed: 'Failed',
  timeout: 'Timed out',
  killed: 'Stopped',
  refused: 'Refused',
  error: 'Could not run',
  skipped: 'Skipped',
  lost: 'Lost',
};

/** The shape for a state, so that colour is never alone. */
export const stateShapes: Readonly<Record<CardState, string>> = {
  asked: '○',
  waiting: '◷',
  running: '●',
  completed: '✓',
  failed: '✕',
  timeout: '◷',
  killed: '■',
  refused: '⊘',
  error: '✕',
  skipped: '–',
  lost: '?',
};

/** The tone of a state: the class that colours it. */
export function toTone(state: CardState): string {
  if (state === 'running') return 'run';
  if (state === 'waiting') return 'wait';
  if (state === 'refused') return 'warn';
  if (state === 'completed') return 'ok';
  return state === 'asked' || state === 'skipped' ? 'plain' : 'bad';
}

/** The word for the state of a command; a question without approval is not a refusal by a rule. */
export function toStateWord(card: Pick<CommandCard, 'state' | 'verdict' | 'acts'>): string {
  if (card.state !== 'refused' || card.verdict !== 'ask') return stateWords[card.state];
  return card.acts.some(({ kind }) => kind === 'declined') ? 'Denied' : 'Not answered';
}

/** The end of a command, in a few words. */
export function toEnd(card: CommandCard): string {
  const { state, exit_code, cause, rule } = card;
  if (state === 'failed') return exit_code === null ? 'failed' : `exit ${exit_code}`;
  if (state === 'killed')
    return cause === 'oom'
      ? 'killed: memory'
      : cause === 'stopped' || cause === null
        ? 'stopped'
        : `killed: ${cause}`;
  if (state === 'refused' && card.verdict !== 'ask') return rule === null ? 'refused' : `refused: ${rule}`;
  return state === 'completed' ? '' : toStateWord(card).toLowerCase();
}
