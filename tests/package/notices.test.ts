import { readdirSync, readFileSync } from 'node:fs';
import { isBuiltin } from 'node:module';
import { expect, test } from 'vitest';
import { findImports } from '../find-imports.ts';

const notices = readFileSync('dist/THIRD_PARTY_NOTICES.md', 'utf8');
const { optionalDependencies, peerDependencies } = readJson('package.json');
const separate = Object.keys({ ...optionalDependencies, ...peerDependencies });

test('the notices name every package whose code is shipped, with its version and its licence', () => {
  const shipped = [...new Set([...imported(), '@xterm/xterm'])];
  expect(shipped.length).toBeGreaterThan(5);
  for (const name of shipped) {
    const { version, license } = readJson(`node_modules/${name}/package.json`);
    expect(notices).toContain(`\n## ${name} ${version} (${license})\n`);
    const file = readdirSync(`node_modules/${name}`).find((entry) => /^licen/i.test(entry));
    if (file) expect(notices).toContain(readFileSync(`node_modules/${name}/${file}`, 'utf8').trim());
  }
});

test('each of them has the text of a licence, and none is installed separately', () => {
  const parts = notices.split(/^## /m).slice(1);
  for (const part of parts) expect(part).toMatch(/copyright/i);
  const named = parts.map((part) => part.split(' ')[0] ?? '');
  expect(named.filter((name) => separate.includes(name))).toEqual([]);
});

/** The packages that the sources import for more than types. */
function imported(): string[] {
  const sources = readdirSync('src', { recursive: true, encoding: 'utf8' }).filter(
    (path) => path.endsWith('.ts') && !path.endsWith('.test.ts'),
  );
  return sources
    .flatMap((path) => findImports(path, readFileSync(`src/${path}`, 'utf8')))
    .filter(({ specifier, typeOnly }) => !typeOnly && !specifier.startsWith('.') && !isBuiltin(specifier))
    .map(({ specifier }) => /^(?:@[^/]+\/)?[^/]+/.exec(specifier)?.[0] ?? '')
    .filter((name) => !separate.includes(name));
}

function readJson(path: string) {
  return JSON.parse(readFileSync(path, 'utf8'));
}
