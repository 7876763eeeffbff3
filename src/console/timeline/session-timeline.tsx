import { useLayoutEffect, useMemo, useState } from 'preact/hooks';
import type { AgentCard, CommandCard } from '../../contract/console.ts';
import { isOpen, isProblem } from '../card-states.ts';
import { onKeys } from '../keys.ts';
import { Loading } from '../parts/states.tsx';
import { go } from '../router.ts';
import { clock, now } from '../store.ts';
import { useSession } from '../use-session.ts';
import { toCount, toPath, toSpan } from '../words.ts';
import { showOdd } from '../worker/visible-text.ts';
import { Lanes } from './lanes.tsx';
import { layOut } from './lay-out.ts';

type Range = 'all' | '15 min' | 'problems';
const none: readonly CommandCard[] = [];

/** The session that a command belongs to. */
export function SessionOf({ agent, chosen }: { readonly agent: AgentCard; readonly chosen: string }) {
  const { data } = useSession(agent.key);
  return <SessionTimeline agent={agent} commands={data?.commands} chosen={chosen} />;
}

/**
 * The session of an agent over time. It is a single control: arrow keys step through the bars, the pointer selects the
 * nearest one.
 */
export function SessionTimeline({
  agent,
  commands: all,
  chosen,
}: {
  readonly agent: AgentCard;
  /** Oldest first; undefined until they have arrived. */
  readonly commands: readonly CommandCard[] | undefined;
  readonly chosen?: string;
}) {
  const commands = all ?? none;
  const [range, setRange] = useState<Range>('all');
  const [near, setNear] = useState<string>();
  useLayoutEffect(() => {
    const step = (by: number) => () => {
      const at = commands.findIndex(({ id }) => id === chosen);
      const next = commands[at + by];
      if (at >= 0 && next) go(`/commands/${next.id}`);
    };
    return onKeys({ '[': step(-1), ']': step(1) });
  }, [chosen, commands]);
  const isLive = commands.some(isOpen);
  const time = isLive ? clock.value : 0;
  const shown = useMemo(
    () => commands.filter((card) => isIn(card, range)),
    [commands, range, range === '15 min' && time],
  );
  const timeline = useMemo(() => layOut(shown, Date.now()), [shown, time]);
  const lastAt = isLive ? clock.value : Date.parse(agent.last);
  return (
    <section class="timeline card" aria-labelledby="tl-title">
      <TimelineHead agent={agent} lastAt={lastAt} range={range} onRange={setRange} />
      {all === undefined ? (
        <Loading />
      ) : shown.length === 0 ? (
        <p class="soft pad">Nothing in this range.</p>
      ) : (
        <Lanes timeline={timeline} chosen={chosen} near={near} onNear={setNear} isLive={isLive} />
      )}
    </section>
  );
}

function isIn(card: CommandCard, range: Range): boolean {
  if (range === 'problems') return isProblem(card);
  return range === 'all' || isOpen(card) || Date.parse(card.asked_at) > Date.now() - 900_000;
}

function TimelineHead({
  agent,
  lastAt,
  range,
  onRange,
}: {
  readonly agent: AgentCard;
  readonly lastAt: number;
  readonly range: Range;
  readonly onRange: (range: Range) => void;
}) {
  const home = now.value?.home ?? '';
  return (
    <div class="tl-head">
      <h2 id="tl-title">
        <span class="wide-only">Session of </span>
        {agent.key === 'terminal' ? 'the terminal' : showOdd(agent.client)}{' '}
        {agent.folder !== null && <span class="soft">in {toPath(agent.folder, home)}</span>}
      </h2>
      <p class="facts">
        <span class="wide-only">
          <b>{toCount(agent.commands)}</b> {agent.commands === 1 ? 'command' : 'commands'}
        </span>
        {agent.failed > 0 && (
          <span>
            <b class="bad">{agent.failed}</b> failed
          </span>
        )}
        {agent.refused > 0 && (
          <span>
            <b class="warn">{agent.refused}</b> refused
          </span>
        )}
        <span>{toSpan(Math.max(1_000, lastAt - Date.parse(agent.since)))}</span>
      </p>
      {/* biome-ignore lint/a11y/useSemanticElements: a fieldset would add a border and a legend */}
      <div class="seg" role="group" aria-label="Range">
        {(['all', '15 min', 'problems'] as const).map((name) => (
          <button key={name} type="button" aria-pressed={range === name} onClick={() => onRange(name)}>
            {name === 'all' ? 'All' : name === 'problems' ? 'Problems' : name}
          </button>
        ))}
      </div>
    </div>
  );
}
