import { expect, test } from 'vitest';
import { understand } from './understand.ts';

const programsIn = (script: string): readonly string[] => understand({ kind: 'shell', script }).programs;

test('the programs worth looking up are bare names, each once, nested ones too', () => {
  expect(programsIn('ls; ls | /bin/cat; cd x; env nice grep y; bash -c "wc z"; ./run')).toEqual([
    'ls',
    'env',
    'nice',
    'grep',
    'bash',
    'wc',
  ]);
});

test('functions and names that are not known are not among them', () => {
  expect(programsIn('f() { date; }; f; $x')).toEqual(['date']);
});

test('a command that is too long is not parsed', () => {
  expect(understand({ kind: 'shell', script: 'a'.repeat(1_048_577) }).script).toBeUndefined();
});

test.each([
  'x=touch; y=$(f() { $x; }; :); x=ls',
  'x=touch; : | f() { $x; } | :; x=ls',
  'x=touch; if :; then f() { $x; }; fi; unset -f f; x=ls',
  "x=touch; y=$(trap '$x' EXIT; :); x=ls",
  'x=touch; case a in a) f() { $x; };; esac; x=ls',
])('P6: what runs later is judged with what its own shell holds: %s', (script) => {
  expect(programsIn(script)).toContain('touch');
});
