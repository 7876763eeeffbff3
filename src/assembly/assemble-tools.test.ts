import { describe, expect, it } from 'vitest';
import { withCallDefaults } from './assemble-tools.ts';

describe('withCallDefaults', () => {
  it.each<[string | undefined, string | undefined, string | undefined]>([
    [undefined, undefined, undefined],
    [undefined, '/work', '/work'],
    ['/own', '/work', '/own'],
    ['sub', '/work', '/work/sub'],
    ['../sub', '/work/link', '/work/link/../sub'],
    ['sub', undefined, 'sub'],
  ])('a call with cwd %s from the working directory %s runs in %s', (cwd, workingDir, expected) => {
    expect(withCallDefaults({ cwd, env: undefined }, { workingDir }).cwd).toBe(expected);
  });

  it("adds the caller's variables; those of the call win", () => {
    const request = { cwd: undefined, env: { A: 'call' } };
    const env = { A: 'caller', B: 'caller' };
    expect(withCallDefaults(request, { env }).env).toEqual({ A: 'call', B: 'caller' });
    expect(withCallDefaults(request, {}).env).toEqual({ A: 'call' });
    expect(withCallDefaults({ cwd: undefined, env: undefined }, { env: { B: 'b' } }).env).toEqual({ B: 'b' });
  });
});
