import type { Bar } from './lay-out.ts';

/** A bar and the index of its lane. */
export interface PlacedBar extends Bar {
  readonly lane: number;
}

const reachPixels = 16;

/** The id of the command whose bar is nearest to the pointer at `x` and `y`, in the lane there; undefined beyond `reachPixels`. */
export function findNearest(
  box: HTMLElement | null,
  bars: readonly PlacedBar[],
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
  const reach = reachPixels / rect.width;
  let best: { readonly id: string; readonly far: number } | undefined;
  for (const bar of bars) {
    if (bar.lane !== lane) continue;
    const far = Math.max(bar.from - at, at - bar.to, 0);
    if (far <= reach && (best === undefined || far < best.far)) best = { id: bar.card.id, far };
  }
  return best?.id;
}
