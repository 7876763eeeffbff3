// The session of an agent as bars over time: one lane a shell, one for the background, one for people. Gaps of more than
// two minutes, in which nothing ran, are folded.
import type { CommandCard, PersonAct } from '../../contract/console.ts';
import { isOpen } from '../card-states.ts';

/** A bar, with its place from 0 to 1. */
export interface Bar {
  readonly card: CommandCard;
  readonly from: number;
  readonly to: number;
}

/** An act of a person, with its place. */
export interface Mark {
  readonly act: PersonAct;
  readonly at: number;
  readonly command: string;
}

/** A folded gap. */
export interface Gap {
  readonly from: number;
  readonly to: number;
  readonly ms: number;
}

/** A row of bars that do not overlap. */
export interface LaneRow {
  readonly kind: LaneKind;
  readonly name: string;
  /** 0 for the first row of the lane; commands that ran at the same time need more. */
  readonly row: number;
  readonly bars: readonly Bar[];
}

/** A timeline that has been laid out. */
export interface Timeline {
  readonly lanes: readonly LaneRow[];
  readonly marks: readonly Mark[];
  readonly gaps: readonly Gap[];
  readonly ticks: readonly { readonly at: number; readonly time: number }[];
  /** True if the ticks are less than a minute apart. */
  readonly hasSeconds: boolean;
  /** CPU in percent of one core, by place. */
  readonly cpu: readonly number[];
}

const idleMs = 120_000;
const beginMs = 1_000;
const foldedShare = 0.05;
const cpuPoints = 240;

interface Span {
  readonly card: CommandCard;
  readonly from: number;
  readonly to: number;
}

/** Lays out the commands of a session, oldest first. */
export function layOut(cards: readonly CommandCard[], now: number): Timeline {
  const spans = cards.map((card) => toSpan(card, now));
  if (spans.length === 0) return { lanes: [], marks: [], gaps: [], ticks: [], hasSeconds: false, cpu: [] };
  const pieces = toPieces(spans, cards.some(isOpen) ? now : undefined);
  const worked = pieces.reduce((sum, { from, to }) => sum + (to - from), 0) || 1;
  const share = (1 - foldedShare * (pieces.length - 1)) / worked;
  const begins: number[] = [];
  let x = 0;
  for (const { from, to } of pieces) {
    begins.push(x);
    x += (to - from) * share + foldedShare;
  }
  const place = (time: number): number => {
    const index = Math.max(
      0,
      pieces.findLastIndex(({ from }) => from <= time),
    );
    const piece = pieces[index];
    if (!piece) return 0;
    return (begins[index] ?? 0) + (Math.min(time, piece.to) - piece.from) * share;
  };
  return {
    lanes: toLanes(
      spans,
      place,
      cards.some(({ acts }) => acts.length > 0),
    ),
    marks: cards.flatMap((card) =>
      card.acts.map((act) => ({ act, at: place(Date.parse(act.at)), command: card.command })),
    ),
    gaps: pieces.slice(1).map((piece, index) => {
      const before = pieces[index];
      const to = begins[index + 1] ?? 0;
      return { from: to - foldedShare, to, ms: piece.from - (before?.to ?? piece.from) };
    }),
    ticks: toTicks(pieces, place),
    hasSeconds: toStep(pieces) < 60_000,
    cpu: toCpu(spans, place),
  };
}

function toSpan(card: CommandCard, now: number): Span {
  const from = Date.parse(card.started_at ?? card.asked_at);
  const to = isOpen(card) ? Math.max(now, from) : from + Math.max(1, card.duration_ms ?? 1);
  return { card, from, to };
}

// The periods in which a command ran; of a background command only the start counts, because it may run for days. While something
// runs, the last period ends now.
function toPieces(
  spans: readonly Span[],
  now: number | undefined,
): readonly { readonly from: number; readonly to: number }[] {
  const pieces: { from: number; to: number }[] = [];
  const isAlone = spans.every(({ card }) => card.background);
  const all = spans
    .map(({ card, from, to }) => ({
      from,
      to: card.background && !isAlone ? Math.min(to, from + beginMs) : to,
    }))
    .concat(now === undefined ? [] : { from: now - beginMs, to: now })
    .sort((one, other) => one.from - other.from);
  for (const { from, to } of all) {
    const last = pieces.at(-1);
    if (last && from - last.to < idleMs) last.to = Math.max(last.to, to);
    else pieces.push({ from, to: Math.max(to, from + 1_000) });
  }
  return pieces;
}

type LaneKind = (typeof laneKinds)[number];

// In the order in which the lanes are drawn. A shell named `you` still has a lane of its own.
const laneKinds = ['commands', 'shell', 'background', 'you'] as const;

function laneOf({ state, background, shell }: CommandCard): {
  readonly kind: LaneKind;
  readonly name: string;
} {
  if (state === 'waiting') return { kind: 'you', name: 'you' };
  if (background) return { kind: 'background', name: 'background' };
  return shell === null ? { kind: 'commands', name: 'commands' } : { kind: 'shell', name: shell };
}

function toLanes(
  spans: readonly Span[],
  place: (time: number) => number,
  hasActs: boolean,
): Timeline['lanes'] {
  const lanes = new Map<string, { readonly kind: LaneKind; readonly name: string; readonly own: Span[] }>();
  if (hasActs) lanes.set('you you', { kind: 'you', name: 'you', own: [] });
  for (const span of spans) {
    const { kind, name } = laneOf(span.card);
    const lane = lanes.get(`${kind} ${name}`) ?? { kind, name, own: [] };
    lane.own.push(span);
    lanes.set(`${kind} ${name}`, lane);
  }
  const toBar = ({ card, from, to }: Span): Bar => ({ card, from: place(from), to: place(to) });
  const order = (kind: LaneKind) => laneKinds.indexOf(kind);
  return [...lanes.values()]
    .sort((one, other) => order(one.kind) - order(other.kind))
    .flatMap(({ kind, name, own }) =>
      toRows(own).map((row, index) => ({ kind, name, row: index, bars: row.map(toBar) })),
    );
}

const maxRows = 3;
// The end of one command and the beginning of the next one are measured by different clocks.
const slackMs = 50;

// Each command is put into the first row that has room for it, so that commands that ran at the same time do not cover one another. The
// rows depend on times and not on places, which change while a command runs: with another number of rows, the output below moves.
function toRows(spans: readonly Span[]): readonly (readonly Span[])[] {
  const rows: Span[][] = [[]];
  const endOf = (row: readonly Span[]) => {
    const last = row.at(-1);
    if (last === undefined) return 0;
    return isOpen(last.card) ? Number.POSITIVE_INFINITY : last.to;
  };
  for (const span of spans.toSorted((one, other) => one.from - other.from)) {
    const free = rows.find((row) => endOf(row) <= span.from + slackMs);
    if (free) free.push(span);
    else if (rows.length < maxRows) rows.push([span]);
    else rows.reduce((best, row) => (endOf(row) < endOf(best) ? row : best)).push(span);
  }
  return rows;
}

const minTickShare = 0.09;

function toStep(pieces: readonly { readonly from: number; readonly to: number }[]): number {
  const whole = pieces.reduce((sum, { from, to }) => sum + (to - from), 0);
  return steps.find((ms) => whole / ms <= 7) ?? steps.at(-1) ?? 1;
}

function toTicks(
  pieces: readonly { readonly from: number; readonly to: number }[],
  place: (time: number) => number,
): Timeline['ticks'] {
  const step = toStep(pieces);
  const ticks: { at: number; time: number }[] = [];
  for (const { from, to } of pieces)
    for (let time = Math.ceil(from / step) * step; time <= to && ticks.length < 50; time += step) {
      const at = place(time);
      const last = ticks.at(-1);
      if ((!last || at - last.at >= minTickShare) && at < 0.95) ticks.push({ at, time });
    }
  return ticks;
}

const steps = [
  1_000, 5_000, 15_000, 30_000, 60_000, 180_000, 300_000, 900_000, 1_800_000, 3_600_000, 21_600_000,
  86_400_000,
];

// From the CPU time of each command, spread evenly over its run.
function toCpu(spans: readonly Span[], place: (time: number) => number): readonly number[] {
  const points = Array.from({ length: cpuPoints }, () => 0);
  for (const { card, from, to } of spans) {
    if (card.cpu_ms === null || to <= from) continue;
    const percent = (card.cpu_ms / (to - from)) * 100;
    const [first, last] = [Math.floor(place(from) * (cpuPoints - 1)), Math.ceil(place(to) * (cpuPoints - 1))];
    for (let at = first; at <= Math.min(last, cpuPoints - 1); at += 1)
      points[at] = (points[at] ?? 0) + percent;
  }
  return points;
}
