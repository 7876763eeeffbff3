import { useMemo, useRef } from 'preact/hooks';
import { Spark } from '../parts/spark.tsx';
import { go } from '../router.ts';
import { stateWords, toClock, toSpan, toTitle } from '../words.ts';
import { findNearest } from './find-nearest.ts';
import { Lane } from './lane.tsx';
import type { Timeline } from './lay-out.ts';

const maxElements = 300;
// On phones there is no room for a time from here on.
const lateShare = 0.8;

/** All lanes as one control: arrow keys step through the bars, and the pointer selects the nearest one, so that thin bars are easy to hit. */
export function Lanes({
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
  const point = ({ clientX, clientY }: PointerEvent) =>
    onNear(findNearest(box.current, bars, clientX, clientY));
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
        onClick={(event) => open(findNearest(box.current, bars, event.clientX, event.clientY))}
      >
        <Axis timeline={timeline} />
        {timeline.lanes.map(({ kind, name, row, bars: own }) => (
          <Lane
            marks={kind === 'you' && row === 0 ? timeline.marks : []}
            key={`${kind} ${row} ${name}`}
            name={row === 0 ? name : ''}
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

function Axis({ timeline }: { readonly timeline: Timeline }) {
  return (
    <>
      <span class="axis-name" role="presentation" />
      <div class="axis" role="presentation">
        {timeline.ticks.map(({ at, time }) => (
          <span key={time} class={at > lateShare ? 'late' : ''} style={{ left: `${at * 100}%` }}>
            {toClock(new Date(time).toISOString(), timeline.hasSeconds)}
          </span>
        ))}
        {timeline.gaps.map(({ from, to, ms }) => (
          <span key={from} class="idle-name" style={{ left: `${((from + to) / 2) * 100}%` }}>
            {toSpan(ms).split(' ').slice(0, 2).join(' ')} idle
          </span>
        ))}
      </div>
    </>
  );
}
