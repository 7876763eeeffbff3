import { expect, test } from 'vitest';
import { nearestWay } from './nearest-way.ts';

test.each([
  ['python', ['ls', 'python3'], 'Use python3 instead.'],
  ['/usr/bin/python', ['python3'], 'Use python3 instead.'],
  ['python3', ['python'], 'Use python instead.'],
  ['rg', ['grep'], 'Use grep -rn instead.'],
  ['yarn', ['node', 'npm'], 'Use npm instead.'],
  ['npx', ['npm'], 'Use npm exec instead.'],
  ['wget', ['curl'], 'Use curl -LO instead.'],
  ['curl', ['wget'], 'Use wget -qO- instead.'],
  ['vim', ['sed'], 'Use sed -i instead.'],
  ['nano', ['ls'], "Use your client's own edit tool instead."],
  ['sudo', ['ls'], 'Use the command without it instead.'],
  ['gti', ['git', 'ls'], 'Did you mean git?'],
  ['pyhton3', ['git', 'python3'], 'Did you mean python3?'],
])('%s with the list %j', (name, listed, sentence) => {
  expect(nearestWay(name, listed)).toBe(sentence);
});

test('a way is suggested only if its program is listed and it does the same', () => {
  expect(nearestWay('wget', ['ls'])).toBeUndefined();
  expect(nearestWay('cut', ['cat'])).toBeUndefined();
  expect(nearestWay('docker', ['ls'])).toBeUndefined();
  expect(nearestWay('terraform', ['ls', 'cat'])).toBeUndefined();
  expect(nearestWay('constructor', ['ls'])).toBeUndefined();
});
