import { stateWords, toTitle, toTone } from '../words.ts';
import { showOdd } from '../worker/visible-text.ts';
import type { Bar, Mark, Timeline } from './lay-out.ts';
import { ManyBars } from './many-bars.tsx';

/** One lane of the timeline: a shell, the background, or the acts of people. */
export function Lane({
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
        {showOdd(name)}
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
        {marks.map((mark, index) => (
          <ActMark
            key={`${mark.act.at}${mark.act.kind}`}
            mark={mark}
            room={(marks[index + 1]?.at ?? bars.find(({ from }) => from > mark.at)?.from ?? 1) - mark.at}
          />
        ))}
        {gaps.map(({ from, to }) => (
          <span key={from} class="idle" style={{ left: `${from * 100}%`, width: `${(to - from) * 100}%` }} />
        ))}
      </div>
    </>
  );
}

const actWords = { approved: 'approved', declined: 'denied', stop: 'stopped', input: 'typed into' } as const;
// Labels are shown from this share of the width of the lane on.
const minActLabelShare = 0.14;
const minBarLabelShare = 0.06;
// The assumed width of a lane in pixels, to estimate the width of a label.
const lanePixels = 700;

// An act of a person. `room` is the space up to the next mark or bar; the label is shown only if it is large enough.
function ActMark({ mark, room }: { readonly mark: Mark; readonly room: number }) {
  const { act, at, command } = mark;
  const words = `${actWords[act.kind]} ${toTitle(command)}`;
  const by = `, by ${showOdd(act.by)}${act.note === null ? '' : `: ${showOdd(act.note)}`}`;
  return (
    <span class={`you ${act.kind}`} style={{ left: `${at * 100}%` }} title={words + by}>
      <i aria-hidden="true" />
      {room > minActLabelShare && <em style={{ maxWidth: `${Math.round(room * lanePixels)}px` }}>{words}</em>}
    </span>
  );
}

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
      style={{
        left: `min(${from * 100}%, calc(100% - 3px))`,
        width: `${Math.max(0.001, to - from) * 100}%`,
      }}
    >
      {to - from > minBarLabelShare ? words : ''}
    </div>
  );
}
