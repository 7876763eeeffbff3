import { expect, test } from 'vitest';
import { readFilters } from '../../src/console/pages/command-filters.ts';
import type { AgentCard } from '../../src/contract/console.ts';

const agents = [
  { key: '1_a', client: 'claude-code', folder: '/home/me/web-shop', door: 'mcp' },
  { key: '2_b', client: 'codex', folder: '/home/me/api', door: 'mcp' },
] as unknown as readonly AgentCard[];

test.each([
  ['push main', { q: 'push main' }],
  ['agent:codex outcome:failed  push', { agent: '2_b', outcome: 'failed', q: 'push' }],
  ['agent:web-shop since:2d', { agent: '1_a', since: '2d', q: '' }],
  ['program:git cwd:~/api', { program: 'git', cwd: '/home/me/api', q: '' }],
  ['echo http://x:80 other:thing', { q: 'echo http://x:80 other:thing' }],
  ['', { q: '' }],
])('%j filters by %j', (text, filters) => {
  expect(readFilters(text, agents, '/home/me')).toEqual(filters);
});
