import { expect, test } from 'vitest';
import { understand } from './understand.ts';

const programsIn = (script: string): readonly string[] => understand({ kind: 'shell', script }).programs;

test('programs are bare names, each listed once, including nested ones', () => {
  expect(programsIn('ls; ls | /bin/cat; cd x; env nice grep y; bash -c "wc z"; ./run')).toEqual([
    'ls',
    'env',
    'nice',
    'grep',
    'bash',
    'wc',
  ]);
});

test('functions and unknown names are not listed', () => {
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
])('P6: functions and traps are judged with the variables of their own subshell: %s', (script) => {
  expect(programsIn(script)).toContain('touch');
});
