import { expect, test } from 'vitest';
import { patienceOf, replyShapeFor } from './known-clients.ts';

test.each([
  ['claude-code', 'long'],
  ['gemini-cli-mcp-client', 'long'],
  ['gemini-cli-mcp-client-nacre', 'long'],
  ['goose', 'long'],
  ['goose-cli', 'long'],
  ['codex-mcp-client', 'usual'],
  ['claude-ai', 'usual'],
  ['gooseberry', 'usual'],
  ['unknown', 'usual'],
])('%s has %s patience', (client, patience) => {
  expect(patienceOf(client)).toBe(patience);
});

test('T2: only auto depends on the client', () => {
  expect(replyShapeFor('claude-code', 'auto')).toBe('text');
  expect(replyShapeFor('unknown', 'auto')).toBe('both');
  for (const shape of ['both', 'text', 'data'] as const)
    expect(replyShapeFor('claude-code', shape)).toBe(shape);
});
