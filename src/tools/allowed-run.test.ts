import { describe, expect, it } from 'vitest';
import { placed } from './allowed-run.ts';

describe('placed', () => {
  it.each<[string | undefined, string | undefined, string | undefined]>([
    [undefined, undefined, undefined],
    [undefined, '/work', '/work'],
    ['/own', '/work', '/own'],
    ['sub', '/work', '/work/sub'],
    ['../sub', '/work/link', '/work/link/../sub'],
    ['sub', undefined, 'sub'],
  ])('a call in %s from a place in %s runs in %s', (cwd, workingDir, expected) => {
    expect(placed({ cwd, env: undefined }, { workingDir }).cwd).toBe(expected);
  });

  it("adds the place's variables below those of the call", () => {
    const request = { cwd: undefined, env: { A: 'call' } };
    expect(placed(request, { env: { A: 'place', B: 'place' } }).env).toEqual({ A: 'call', B: 'place' });
    expect(placed(request, {}).env).toEqual({ A: 'call' });
    expect(placed({ cwd: undefined, env: undefined }, { env: { B: 'b' } }).env).toEqual({ B: 'b' });
  });
});
