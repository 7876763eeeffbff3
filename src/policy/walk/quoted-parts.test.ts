import { parse, type Word } from 'unbash';
import { describe, expect, test } from 'vitest';
import { quotedParts } from './quoted-parts.ts';
import { shapeOf } from './word-shape.ts';

const pieces = [
  'a b',
  '$x',
  `\${x_1}`,
  '$10',
  '$@',
  '$#',
  '$?',
  '$_',
  "'",
  '{a,b}',
  '[0]',
  '(',
  '!',
  '~',
  '*',
  '\n',
  'é',
  '#',
  ';',
];

function wordOf(text: string): Word {
  const command = parse(`: ${text}`).commands[0]?.command;
  const word = command?.type === 'Command' ? command.suffix[0] : undefined;
  if (word?.type !== 'Word') throw new Error(`${text} is not a word`);
  return word;
}

describe('P4: a double-quoted string with variables only', () => {
  test('has the same parts as unbash returns', () => {
    const texts = pieces.flatMap((one) =>
      pieces.flatMap((other) => [`"${one}$y${other}"`, `"${one}${other}-$y"`]),
    );
    for (const text of texts) {
      const word = wordOf(text);
      expect(shapeOf(text)).toBe('quoted');
      expect(word.parts).toMatchObject([{ type: 'DoubleQuoted', parts: quotedParts(word) }]);
    }
  });

  test.each([
    '"$x"',
    '"x"',
    '"$"',
    '"a $ b"',
    `"\${x:-z} y"`,
    `"\${1} y"`,
    `"\${x y"`,
    '"$(x) y"',
    '"`x` $y"',
    '"\\$x $y"',
    '"$x" ',
    '"$x"y"',
    '"$x',
    '"',
  ])('does not include %s', (text) => expect(shapeOf(text)).not.toBe('quoted'));
});
