import { expect, test } from 'vitest';
import { CopyOnWriteMap } from './copy-on-write-map.ts';

function tableOf(entries: Readonly<Record<string, number>>): CopyOnWriteMap<number> {
  const table = new CopyOnWriteMap<number>();
  for (const [name, value] of Object.entries(entries)) table.set(name, value);
  return table;
}

test('a copy and its original go their own ways', () => {
  const one = tableOf({ a: 1, b: 2 });
  const other = new CopyOnWriteMap(one);
  expect(one.isSame(other)).toBe(true);
  one.set('a', 3);
  other.delete('b');
  expect([...one]).toEqual([
    ['a', 3],
    ['b', 2],
  ]);
  expect([...other]).toEqual([['a', 1]]);
  expect(one.isSame(other)).toBe(false);
});

test('of three that hold the same, the two that are left still do after one has let go', () => {
  const one = tableOf({ a: 1 });
  const [other, third] = [new CopyOnWriteMap(one), new CopyOnWriteMap(one)];
  third.release();
  one.set('a', 2);
  expect(other.get('a')).toBe(1);
});

test('what another holds is held from now on, and changed alone', () => {
  const one = tableOf({ a: 1 });
  const other = tableOf({ b: 2 });
  one.replaceWith(other);
  one.set('c', 3);
  expect(one.keys()).toEqual(['b', 'c']);
  expect([...other.names()]).toEqual(['b']);
  expect(other.size).toBe(1);
});
