import { describe, expect, test } from 'vitest';
import { limits } from '../words/limits.ts';
import { eitherTrails, followed } from './trails.ts';

describe('directories below one that is not known', () => {
  test('cd .. removes the last folder, and cd a/../b leaves only b', () => {
    expect(followed('a/b', '..')).toBe('a');
    expect(followed('', 'a/../b')).toBe('b');
    expect(followed('a', 'b')).toBe('a/b');
    expect(followed('', '../../a')).toBe('../../a');
  });

  test('a hidden folder is kept however many directories are possible', () => {
    let trails: readonly string[] = [''];
    for (const name of ['a', 'b', 'c', 'd', 'e', '.git', 'f', 'hooks'])
      trails = eitherTrails(
        trails,
        trails.map((trail) => followed(trail, name)),
      );
    expect(trails.length).toBeLessThan(2 * limits.trails);
    expect(trails).toContain('.git/hooks');
  });
});
