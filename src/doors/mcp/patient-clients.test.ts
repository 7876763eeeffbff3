import { expect, test } from 'vitest';
import { patienceOf } from './patient-clients.ts';

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
