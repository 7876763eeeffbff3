import { chmodSync, existsSync, mkdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeEach, expect, it } from 'vitest';
import { temporaryFolder } from '../../tests/support/temporary-folder.ts';
import { cacheFile, loadCachedCode } from './cached-code.ts';

let file = '';
beforeEach(() => {
  const folder = join(temporaryFolder(), 'own');
  mkdirSync(folder, { mode: 0o755 });
  file = join(folder, 'bundle.cjs');
  writeFileSync(file, 'module.exports = { add: (a, b) => a + b, name: __filename };', { mode: 0o644 });
});

const load = () => loadCachedCode(file).exports as { add(a: number, b: number): number; name: string };

it('loads a bundle, and saves its code for the next start', () => {
  const code = loadCachedCode(file);
  expect(code.exports).toMatchObject({ name: file });
  code.save();
  expect(statSync(cacheFile(file)).mode & 0o777).toBe(0o644);
  expect(load().add(1, 2)).toBe(3);
});

it('saves nothing again while V8 uses the cache', () => {
  loadCachedCode(file).save();
  const before = statSync(cacheFile(file), { bigint: true }).mtimeNs;
  loadCachedCode(file).save();
  expect(statSync(cacheFile(file), { bigint: true }).mtimeNs).toBe(before);
});

it.each([
  ['a changed byte', (bytes: Buffer) => bytes.fill(0xff, bytes.length >> 1, (bytes.length >> 1) + 1)],
  ['half of it missing', (bytes: Buffer) => bytes.subarray(0, bytes.length >> 1)],
  ['nothing in it', () => Buffer.alloc(0)],
  ['other content', () => Buffer.from('x'.repeat(1_000))],
])('compiles again if the cache has %s', (_title, damage) => {
  loadCachedCode(file).save();
  writeFileSync(cacheFile(file), damage(readFileSync(cacheFile(file))));
  expect(load().add(1, 2)).toBe(3);
});

it('does not trust a cache that others can write', () => {
  loadCachedCode(file).save();
  writeFileSync(cacheFile(file), readFileSync(cacheFile(file)));
  chmodSync(cacheFile(file), 0o666);
  const code = loadCachedCode(file);
  code.save();
  expect(statSync(cacheFile(file)).mode & 0o777).toBe(0o644);
});

it('saves no cache in a folder that others can write', () => {
  chmodSync(join(file, '..'), 0o777);
  loadCachedCode(file).save();
  expect(existsSync(cacheFile(file))).toBe(false);
});
