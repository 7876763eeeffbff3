// Colours of a terminal (SGR) as one number, so that the state at any line can be kept cheaply:
// bits 0-4 foreground + 1, 5-9 background + 1, 10 bold, 11 dim, 12 italic, 13 underline, 14 inverse, 15 strike.
// Colours 0-15 are the theme's; those of the palette and in RGB become the nearest of the 16.

/** The state without any colour. */
export const plain = 0;

const flags: Readonly<Record<number, number>> = { 1: 10, 2: 11, 3: 12, 4: 13, 7: 14, 9: 15 };
const ends: Readonly<Record<number, readonly number[]>> = {
  22: [10, 11],
  23: [12],
  24: [13],
  27: [14],
  29: [15],
};

/** The state after an SGR sequence with these parameters, such as `1;31`. */
export function applySgr(state: number, parameters: string): number {
  const codes = parameters.split(/[;:]/).map((one) => (one === '' ? 0 : Number(one)));
  let next = state;
  for (let index = 0; index < codes.length; index += 1) {
    const code = codes[index] ?? 0;
    if (code === 38 || code === 48) {
      const { colour, used } = extended(codes, index + 1);
      next = setColour(next, code === 38 ? 0 : 5, colour);
      index += used;
    } else next = applyCode(next, code);
  }
  return next;
}

function applyCode(state: number, code: number): number {
  if (code === 0) return plain;
  const flag = flags[code];
  if (flag !== undefined) return state | (1 << flag);
  const ended = ends[code];
  if (ended) return ended.reduce((left, bit) => left & ~(1 << bit), state);
  if (code >= 30 && code <= 37) return setColour(state, 0, code - 30);
  if (code >= 90 && code <= 97) return setColour(state, 0, code - 82);
  if (code === 39) return setColour(state, 0, undefined);
  if (code >= 40 && code <= 47) return setColour(state, 5, code - 40);
  if (code >= 100 && code <= 107) return setColour(state, 5, code - 92);
  return code === 49 ? setColour(state, 5, undefined) : state;
}

function setColour(state: number, shift: number, colour: number | undefined): number {
  return (state & ~(31 << shift)) | ((colour === undefined ? 0 : colour + 1) << shift);
}

function extended(
  codes: readonly number[],
  at: number,
): { readonly colour: number | undefined; readonly used: number } {
  if (codes[at] === 5) return { colour: fromPalette(codes[at + 1] ?? 0), used: 2 };
  if (codes[at] !== 2) return { colour: undefined, used: 1 };
  return { colour: nearest(codes[at + 1] ?? 0, codes[at + 2] ?? 0, codes[at + 3] ?? 0), used: 4 };
}

function fromPalette(index: number): number {
  if (index < 16) return Math.max(0, index);
  if (index >= 232) return index < 244 ? 8 : 7;
  const cube = index - 16;
  const level = (part: number) => (part === 0 ? 0 : 55 + part * 40);
  return nearest(level(Math.floor(cube / 36)), level(Math.floor(cube / 6) % 6), level(cube % 6));
}

function nearest(red: number, green: number, blue: number): number {
  const strongest = Math.max(red, green, blue);
  if (strongest < 60) return 8;
  const bit = (part: number, value: number) => (part > strongest * 0.6 ? value : 0);
  const base = bit(red, 1) | bit(green, 2) | bit(blue, 4);
  return base === 7 ? (strongest > 200 ? 15 : 7) : base;
}

/** The class names of a state; empty for `plain`. */
export function toClasses(state: number): string {
  if (state === plain) return '';
  const inverse = (state & (1 << 14)) !== 0;
  const [front, back] = [(state & 31) - 1, ((state >> 5) & 31) - 1];
  const names = inverse ? [`b${front < 0 ? 'x' : front}`, `f${back < 0 ? 'x' : back}`] : [];
  if (!inverse && front >= 0) names.push(`f${front}`);
  if (!inverse && back >= 0) names.push(`b${back}`);
  for (const [bit, name] of styles) if (state & (1 << bit)) names.push(name);
  return names.join(' ');
}

const styles = [
  [10, 'sb'],
  [11, 'sd'],
  [12, 'si'],
  [13, 'su'],
  [15, 'ss'],
] as const;
