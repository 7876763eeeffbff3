import { expect, it } from 'vitest';
import { nameProcesses } from './describe-outcome.ts';

it('E3: many processes with long command lines do not make a reply long', () => {
  const many = Array.from({ length: 300 }, (_, pid) => ({ pid, command: `sleep\n${'x'.repeat(3_000)}` }));
  const named = nameProcesses(many);
  expect(named).toHaveLength(21);
  expect(named[0]).toMatch(/^sleep x{114}… \(pid 0\)$/);
  expect(named.at(-1)).toBe('280 more');
});

it('a few processes are named in full', () => {
  expect(nameProcesses([{ pid: 7, command: 'sleep 60' }])).toEqual(['sleep 60 (pid 7)']);
});
