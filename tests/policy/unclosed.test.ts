import { spawnSync } from 'node:child_process';
import { expect, test } from 'vitest';
import { decideCommand } from '../../src/policy/decide-command.ts';

const isReadByBash = (script: string) => spawnSync('bash', ['-n', '-c', script]).status === 0;

// POSIX takes it for a character; bash looks for its other end, up to a later line if need be.
test.each([
  `echo "\${msg:-it's fine}"`,
  `echo "\${msg:+it's fine}"; echo done`,
  `echo "\${msg:-it's fine}"\nls`,
])('P9: an apostrophe alone in a default in double quotes is refused, as by bash: %j', (script) => {
  expect(isReadByBash(script)).toBe(false);
  expect(decideCommand(script, '*')).toMatchObject({ verdict: 'deny', rule: 'unparsable' });
});

test('P10: two apostrophes in such a default are read, as by bash', () => {
  const script = `echo "\${msg:-it's fine, isn't it}"`;
  expect(isReadByBash(script)).toBe(true);
  expect(decideCommand(script, ['echo']).verdict).toBe('allow');
});
