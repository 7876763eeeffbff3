import { execFileSync } from 'node:child_process';
import { expect, test } from 'vitest';
import { splitFunctions } from './split-functions.ts';

const bash = (script: string) =>
  execFileSync('bash', ['--noprofile', '--norc', '-c', script], { encoding: 'utf8' });
const split = (definitions: string) => {
  const names = bash(`${definitions}\ndeclare -F`).trim().split('\n');
  return splitFunctions(
    bash(`${definitions}\ndeclare -f`),
    names.map((line) => line.replace(/^declare -\S+ /, '')),
  );
};

test.each([
  [
    'a here-document that looks like the next function',
    'a() { cat <<E\n}\nb () \n{ \n    not me\n}\nE\n}\nb() { echo b; }',
  ],
  [
    'several here-documents, quoted and indented',
    'a() { cat <<\'X Y\' - <<-"Z"\n}\nb () \nX Y\n}\nb () \n\tZ\necho; }\nb() { echo b; }',
  ],
  ['a function with redirections', 'a() { echo a; } >&2 2>/dev/null\nb() ( echo b )'],
  ['an exported function', 'a() { echo a; }\nb() { echo b; }\nexport -f a'],
  ['shifts and here-strings', 'a() { echo $((1<<2)); cat <<<word; }\nb() { echo "<<E"; }\nc-d() { :; }'],
])('finds each function next to %s', (_, definitions) => {
  const found = split(definitions);
  expect(found.size).toBeGreaterThan(1);
  for (const [name, text] of found) expect(text).toBe(bash(`${definitions}\ndeclare -f ${name}`).trimEnd());
});

test('finds no function in an empty text', () => {
  expect(splitFunctions('', [])).toEqual(new Map());
});
