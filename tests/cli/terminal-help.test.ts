import { describe, expect, it } from 'vitest';
import { createPlace, type Place } from '../support/nacre.ts';
import { openTerminal } from '../support/terminal.ts';

const place = createPlace();
const colour = /\u001b\[[\d;]*m/;

async function printed(argv: readonly string[], at: Place, columns: number): Promise<string> {
  const terminal = openTerminal(argv, at, columns);
  expect(await terminal.ended).toBe(0);
  return terminal.text().replaceAll('\r\n', '\n');
}

describe('help at a terminal', () => {
  it.each([40, 80, 120])('fits %i columns and has colours', async (columns) => {
    for (const argv of [['--help'], ['history', '--help'], ['init', '--help', '--all']]) {
      const text = await printed(argv, place, columns);
      expect(text).toMatch(colour);
      const lines = text.replace(new RegExp(colour, 'g'), '').split('\n');
      expect(lines.filter((line) => line.length > columns)).toEqual([]);
      expect(Math.max(...lines.map((line) => line.length))).toBeGreaterThan(columns * 0.6);
    }
  });

  it.each([
    ['NO_COLOR', '1', false],
    ['NO_COLOR', '', true],
    ['FORCE_COLOR', '0', false],
    ['TERM', 'dumb', false],
  ])('with %s=%s, it has colours: %s', async (name, value, hasColour) => {
    const text = await printed(['ps', '--help'], { ...place, env: { ...place.env, [name]: value } }, 80);
    expect(colour.test(text)).toBe(hasColour);
  });
});
