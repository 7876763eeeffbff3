import { expect, it } from 'vitest';
import { findKnownClient } from './known-clients.ts';

it.each([
  ['claude-code', 'Claude Code'],
  ['qwen-cli-mcp-client-nacre', 'Qwen Code'],
  ['@cline/core', 'Cline'],
  ['opencode', 'opencode'],
  ['not-opencode', undefined],
  ['', undefined],
])('the client that calls itself %j is %s', (name, title) => {
  expect(findKnownClient(name)?.title).toBe(title);
});
