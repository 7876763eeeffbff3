import { expect, test } from 'vitest';
import { toSessionKey, toSessionName } from './session-key.ts';

const owners = [
  { owner: 'http' },
  { owner: 'http/one' },
  { owner: 'http', connection: 'mcp_1' },
  { owner: 'http/one', connection: 'mcp_1' },
];

test('B3: a persistent shell is found by its owner and by no other', () => {
  for (const owner of owners)
    for (const name of ['main', 'one/main', 'mcp_1/main', '100%/', 'ä😀', '\ud800']) {
      const key = toSessionKey(owner, name);
      expect(owners.map((other) => toSessionName(key, other))).toEqual(
        owners.map((other) => (other === owner ? name : undefined)),
      );
    }
});
