import { expect, it } from 'vitest';
import { listSentences } from '../scripts/reference/list-sentences.ts';

const read = (source: string) => listSentences(new Map([['a.ts', source]]), 'Fault');

it('reads literals in the call', () => {
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

it('reads the arguments of calls to the enclosing function, including those in other files', () => {
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

it('shows other expressions in braces, and a missing hint as an empty text', () => {
  expect(read('new Fault(404, String(error))')).toMatchObject([
    { kind: '404', message: '{String(error)}', hint: '' },
  ]);
});
