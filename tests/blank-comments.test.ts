import { expect, it } from 'vitest';
import { blankComments } from './blank-comments.ts';

it('blanks comments and keeps all positions', () => {
  expect(blankComments('a; // one\n/* two\n three */ b;')).toBe('a;       \n      \n          b;');
});

it.each([
  "const url = 'https://example.org'; f();",
  "const glob = 'src/**/*.ts'; const other = '**/*';",
  'const text = `a // b /* c`; const quote = "it\'s // fine";',
  "const escaped = 'it\\'s // fine';",
  'const pattern = /^\\/[/*]/; const half = a / b;',
  'return /["\'`]/.test(x) ? 1 : 2;',
  'const nested = `a$' + '{`b // c`}d // e`;',
])('does not change code: %s', (code) => {
  expect(blankComments(code)).toBe(code);
});

it('finds a comment after a string, a pattern or a division', () => {
  expect(blankComments("f('//'); // x").trimEnd()).toBe("f('//');");
  expect(blankComments('f(/[/"]/g); // x').trimEnd()).toBe('f(/[/"]/g);');
  expect(blankComments('const half = a / b; // x / y').trimEnd()).toBe('const half = a / b;');
});
