import { expect, it } from 'vitest';
import { listSentences } from '../scripts/reference/list-sentences.ts';

const read = (source: string) => listSentences(new Map([['a.ts', source]]), 'Fault');

it('reads what stands in the call', () => {
  const source = `throw new Fault('gone', \`There is no \${name(1, ')')}, only ')'.\`, { hint: 'Say \\'a\\'.', cause });`;
  expect(read(source)).toEqual([
    { file: 'a.ts', kind: 'gone', message: "There is no {name(1, ')')}, only ')'.", hint: "Say 'a'." },
  ]);
});

it('reads constants of the function and of the file, and alternatives', () => {
  const source = `const hint = 'Try again.';
function one() {
  const message = short ? 'Short one.' : \`Long \${text}.\`;
  return new Fault('x', message, { hint });
}
const message = 'Another.';`;
  expect(read(source)).toMatchObject([{ message: 'Short one. · Long {text}.', hint: 'Try again.' }]);
});

it('reads the calls of the function that is given the words, also those in other files', () => {
  const files = new Map([
    [
      'a.ts',
      "export function fault(message: string, hint = 'Wait.') {\n  return new Fault('x', message, { hint });\n}",
    ],
    ['b.ts', "fault('Here.'); fault('There.', 'Go.'); unfault('no');"],
  ]);
  expect(listSentences(files, 'Fault')).toMatchObject([
    { message: 'Here.', hint: 'Wait.' },
    { message: 'There.', hint: 'Go.' },
  ]);
});

it('shows what cannot be read in braces, and nothing where there is none', () => {
  expect(read('new Fault(404, String(error))')).toMatchObject([
    { kind: '404', message: '{String(error)}', hint: '' },
  ]);
});
