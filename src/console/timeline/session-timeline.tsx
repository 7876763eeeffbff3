import { useEffect, useLayoutEffect, useMemo, useRef, useState } from 'preact/hooks';
import type { AgentCard, CommandCard } from '../../contract/console.ts';
import { onKeys } from '../keys.ts';
import { Spark } from '../parts/spark.tsx';
import { Loading } from '../parts/states.tsx';
import { go } from '../router.ts';
import { clock, isOpen, isProblem, now, onCards } from '../store.ts';
import { useFetched } from '../use-fetched.ts';
import { stateWords, toClock, toCount, toPath, toSpan, toTitle, toTone } from '../words.ts';
import { showOdd } from '../worker/visible-text.ts';
import { type Bar, layOut, type Timeline } from './lanes.ts';

const maxElements = 300;

type Range = 'all' | '15 min' | 'problems';

/** The session of an agent over time. The whole is one control: arrows and the pointer choose the nearest bar. */
export function SessionTimeline({ agent, chosen }: { readonly agent: AgentCard; readonly chosen?: string }) {
  const { data, set } = useFetched<{ readonly commands: readonly CommandCard[] }>(
    `/api/agents/${encodeURIComponent(agent.key)}`,
  );
  const [range, setRange] = useState<Range>('all');
  const [near, setNear] = useState<string>();
  useEffect(
    () =>
      onCards((cards) => {
        const own = cards.filter((card) => card.agent === agent.key);
        if (own.length === 0) return;
        set(({ commands }) => {
          const byId = new Map(own.map((card) => [card.id, card]));
          const known = new Set(commands.map(({ id }) => id));
          const kept = commands.map((card) => byId.get(card.id) ?? card);
          return { commands: [...kept, ...own.filter(({ id }) => !known.has(id))].slice(-5_000) };
        });
      }),
    [agent.key, data === undefined],
  );
  const commands = data?.commands ?? [];
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
  const home = now.value?.home ?? '';
  const lastAt = isLive ? clock.value : Date.parse(agent.last);
  return (
    <section class="timeline card" aria-labelledby="tl-title">
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
            <button key={name} type="button" aria-pressed={range === name} onClick={() => setRange(name)}>
              {name === 'all' ? 'All' : name === 'problems' ? 'Problems' : name}
            </button>
          ))}
        </div>
      </div>
      {data === undefined ? (
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

function Lanes({
  timeline,
  chosen,
  near,
  onNear,
  isLive,
}: {
  readonly timeline: Timeline;
  readonly chosen: string | undefined;
  readonly near: string | undefined;
  readonly onNear: (id: string | undefined) => void;
  readonly isLive: boolean;
}) {
  const box = useRef<HTMLDivElement>(null);
  const bars = useMemo(
    () =>
      timeline.lanes
        .flatMap(({ bars: own }, lane) => own.map((bar) => ({ ...bar, lane })))
        .sort((one, other) => one.from - other.from),
    [timeline],
  );
  const open = (id: string | undefined) => {
    if (id !== undefined) go(`/commands/${id}`);
  };
  const step = (by: number) => {
    const at = bars.findIndex(({ card }) => card.id === (near ?? chosen));
    onNear(bars[Math.max(0, Math.min(bars.length - 1, at + by))]?.card.id);
  };
  const point = ({ clientX, clientY }: PointerEvent) => onNear(nearest(box.current, bars, clientX, clientY));
  const current = bars.find(({ card }) => card.id === (near ?? chosen))?.card;
  const isMany = bars.length > maxElements;
  return (
    <>
      <div
        class="tl"
        ref={box}
        role="listbox"
        aria-label="Commands in the order of time"
        aria-activedescendant={current && !isMany ? `bar-${current.id}` : undefined}
        tabIndex={0}
        onKeyDown={(event) => {
          if (event.key === 'ArrowRight') step(1);
          else if (event.key === 'ArrowLeft') step(-1);
          else if (event.key === 'Enter') open(near ?? chosen);
          else return;
          event.preventDefault();
        }}
        onPointerMove={point}
        onPointerLeave={() => onNear(undefined)}
        onClick={(event) => open(nearest(box.current, bars, event.clientX, event.clientY))}
      >
        <span class="axis-name" role="presentation" />
        <div class="axis" role="presentation">
          {timeline.ticks.map(({ at, time }) => (
            <span key={time} style={{ left: `${at * 100}%` }}>
              {toClock(new Date(time).toISOString(), timeline.hasSeconds)}
            </span>
          ))}
          {timeline.gaps.map(({ from, to, ms }) => (
            <span key={from} class="idle-name" style={{ left: `${((from + to) / 2) * 100}%` }}>
              {toSpan(ms).split(' ').slice(0, 2).join(' ')} idle
            </span>
          ))}
        </div>
        {timeline.lanes.map(({ name, bars: own }) => (
          <Lane
            marks={name === 'you' ? timeline.marks : []}
            key={name}
            name={name}
            bars={own}
            chosen={chosen}
            near={near}
            isMany={isMany}
            gaps={timeline.gaps}
            ticks={timeline.ticks}
          />
        ))}
        <span class="name use" role="presentation">
          cpu
        </span>
        <div class="lane use" role="presentation">
          <Spark values={timeline.cpu} label="CPU of the session" height={26} isDecorative />
        </div>
        {isLive && <div class="nowline" role="presentation" />}
      </div>
      <p class="sr" aria-live="polite">
        {near !== undefined && current ? `${toTitle(current.command)}, ${stateWords[current.state]}` : ''}
      </p>
    </>
  );
}

function nearest(
  box: HTMLElement | null,
  bars: readonly (Bar & { readonly lane: number })[],
  x: number,
  y: number,
): string | undefined {
  const lanes = box?.querySelectorAll<HTMLElement>('.lane');
  const lane = [...(lanes ?? [])].findIndex((one) => {
    const { top, bottom } = one.getBoundingClientRect();
    return y >= top && y < bottom;
  });
  const rect = lanes?.[Math.max(0, lane)]?.getBoundingClientRect();
  if (!rect || lane < 0) return undefined;
  const at = (x - rect.left) / rect.width;
  const reach = 16 / rect.width;
  let best: { readonly id: string; readonly far: number } | undefined;
  for (const bar of bars) {
    if (bar.lane !== lane) continue;
    const far = Math.max(bar.from - at, at - bar.to, 0);
    if (far <= reach && (best === undefined || far < best.far)) best = { id: bar.card.id, far };
  }
  return best?.id;
}

function Lane({
  name,
  bars,
  chosen,
  near,
  isMany,
  gaps,
  ticks,
  marks,
}: {
  readonly name: string;
  readonly bars: readonly Bar[];
  readonly chosen: string | undefined;
  readonly near: string | undefined;
  readonly isMany: boolean;
  readonly gaps: Timeline['gaps'];
  readonly ticks: Timeline['ticks'];
  readonly marks: Timeline['marks'];
}) {
  const shown = isMany ? bars.filter(({ card }) => card.id === (near ?? chosen)) : bars;
  return (
    <>
      <span class="name" role="presentation">
        {name}
      </span>
      <div class="lane" role="presentation">
        {ticks.map(({ at, time }) => (
          <i key={time} class="tick" style={{ left: `${at * 100}%` }} />
        ))}
        {isMany && <ManyBars bars={bars} />}
        {shown.map((bar) => (
          <BarElement
            key={bar.card.id}
            bar={bar}
            isChosen={bar.card.id === chosen}
            isNear={bar.card.id === near}
          />
        ))}
        {marks.map(({ act, at, command }) => (
          <span
            key={`${act.at}${act.kind}`}
            class={`you ${act.kind}`}
            style={{ left: `${at * 100}%` }}
            title={`${act.kind} ${toTitle(command)}, by ${act.by}`}
          />
        ))}
        {gaps.map(({ from, to }) => (
          <span key={from} class="idle" style={{ left: `${from * 100}%`, width: `${(to - from) * 100}%` }} />
        ))}
      </div>
    </>
  );
}

const labelShare = 0.06;

function BarElement({
  bar,
  isChosen,
  isNear,
}: {
  readonly bar: Bar;
  readonly isChosen: boolean;
  readonly isNear: boolean;
}) {
  const { card, from, to } = bar;
  const kind = card.state === 'running' ? (card.background ? 'long' : 'now') : toTone(card.state);
  const words = toTitle(card.command);
  return (
    <div
      id={`bar-${card.id}`}
      role="option"
      tabIndex={-1}
      aria-selected={isChosen}
      aria-label={`${words}, ${stateWords[card.state]}`}
      title={words}
      class={`blk ${kind}${isNear ? ' near' : ''}`}
      style={{ left: `${from * 100}%`, width: `${Math.max(0.001, to - from) * 100}%` }}
    >
      {to - from > labelShare ? words : ''}
    </div>
  );
}

/** More bars than elements can be: they are merged within 3 pixels and drawn. */
function ManyBars({ bars }: { readonly bars: readonly Bar[] }) {
  const canvas = useRef<HTMLCanvasElement>(null);
  useEffect(() => {
    const element = canvas.current;
    const context = element?.getContext('2d');
    if (!element || !context) return;
    const { width, height } = element.getBoundingClientRect();
    const scale = window.devicePixelRatio;
    element.width = width * scale;
    element.height = height * scale;
    context.scale(scale, scale);
    const style = getComputedStyle(element);
    const colours = {
      bad: style.getPropertyValue('--bad'),
      warn: style.getPropertyValue('--warn'),
      run: style.getPropertyValue('--run'),
    };
    const quiet = style.getPropertyValue('--bar');
    let last = -10;
    for (const { card, from, to } of bars) {
      const x = Math.floor((from * width) / 3) * 3;
      const tone = toTone(card.state) as keyof typeof colours;
      if (x === last && colours[tone] === undefined) continue;
      last = x;
      context.fillStyle = colours[tone] ?? quiet;
      context.fillRect(x, 4, Math.max(2.5, (to - from) * width), 18);
    }
  }, [bars]);
  return <canvas class="many" ref={canvas} />;
}
