import { spawnSync } from 'node:child_process';
import { expect, test } from 'vitest';
import { decideCommand } from '../../src/policy/decide-command.ts';

const bashAccepts = (script: string) => spawnSync('bash', ['-n', '-c', script]).status === 0;

// In POSIX the apostrophe is literal here; bash searches for the closing one, even on later lines.
test.each([
  `echo "\${msg:-it's fine}"`,
  `echo "\${msg:+it's fine}"; echo done`,
  `echo "\${msg:-it's fine}"\nls`,
])('P9: a single apostrophe in a default in double quotes is refused, as in bash: %j', (script) => {
  expect(bashAccepts(script)).toBe(false);
  expect(decideCommand(script, '*')).toMatchObject({ verdict: 'deny', rule: 'unparsable' });
});

test('P10: two apostrophes in such a default are accepted, as in bash', () => {
  const script = `echo "\${msg:-it's fine, isn't it}"`;
  expect(bashAccepts(script)).toBe(true);
  expect(decideCommand(script, ['echo']).verdict).toBe('allow');
});
