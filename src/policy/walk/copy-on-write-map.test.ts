import { expect, test } from 'vitest';
import { CopyOnWriteMap } from './copy-on-write-map.ts';

function mapOf(entries: Readonly<Record<string, number>>): CopyOnWriteMap<number> {
  const map = new CopyOnWriteMap<number>();
  for (const [name, value] of Object.entries(entries)) map.set(name, value);
  return map;
}

test('a copy and its original are independent after a write', () => {
  const one = mapOf({ a: 1, b: 2 });
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

test('releasing one of three copies leaves the other two independent', () => {
  const one = mapOf({ a: 1 });
  const [other, third] = [new CopyOnWriteMap(one), new CopyOnWriteMap(one)];
  third.release();
  one.set('a', 2);
  expect(other.get('a')).toBe(1);
});

test('replaceWith shares the content of the other map and copies it on write', () => {
  const one = mapOf({ a: 1 });
  const other = mapOf({ b: 2 });
  one.replaceWith(other);
  one.set('c', 3);
  expect(one.keys()).toEqual(['b', 'c']);
  expect([...other.names()]).toEqual(['b']);
  expect(other.size).toBe(1);
});
