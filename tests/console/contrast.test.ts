import { readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';

const css = readFileSync(new URL('../../src/console/styles/tokens.css', import.meta.url), 'utf8');
const tokens = new Map(
  [...css.matchAll(/--([\w-]+): light-dark\((#\w+), (#\w+)\);/g)].map(([, name, light, dark]) => [
    name,
    { light, dark },
  ]),
);
type Theme = 'light' | 'dark';

// The relative luminance of WCAG 2.2.
function luminanceOf(colour: string): number {
  const hex = colour.length === 4 ? colour.replace(/[0-9a-f]/gi, '$&$&') : colour;
  const [red = 0, green = 0, blue = 0] = [1, 3, 5]
    .map((at) => Number.parseInt(hex.slice(at, at + 2), 16) / 255)
    .map((part) => (part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4));
  return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
}

function contrastOf(one: string, other: string, theme: Theme): number {
  const [high = 0, low = 0] = [one, other]
    .map((name) => luminanceOf(tokens.get(name)?.[theme] ?? ''))
    .sort((a, b) => b - a);
  return (high + 0.05) / (low + 0.05);
}

const themes = ['light', 'dark'] as const;
const pairsOf = (front: readonly string[], back: readonly string[]) =>
  themes.flatMap((theme) => front.flatMap((one) => back.map((other) => [theme, one, other] as const)));

describe('the contrast of the console', () => {
  test('of text is at least 5:1, on every surface', () => {
    const text = ['text', 'text-2', 'text-3', 'accent', 'run', 'bad', 'warn', 'wait'];
    const low = [
      ...pairsOf(text, ['canvas', 'surface', 'sunken']),
      ...pairsOf(['text', 'text-2'], ['hover']),
      ...['accent', 'run', 'bad', 'warn', 'wait', 'ok'].flatMap((tone) => pairsOf([tone], [`${tone}-soft`])),
    ].filter(([theme, one, other]) => contrastOf(one, other, theme) < 5);
    expect(low).toEqual([]);
  });

  test('of the edges of controls is at least 3:1', () => {
    const low = pairsOf(['control'], ['canvas', 'surface', 'sunken']).filter(
      ([theme, one, other]) => contrastOf(one, other, theme) < 3,
    );
    expect(low).toEqual([]);
  });
});
