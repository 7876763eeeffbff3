import { expect, test } from 'vitest';
import { nameOfSession, toSessionKey } from './session-key.ts';

const holders = [
  { owner: 'http' },
  { owner: 'http/one' },
  { owner: 'http', connection: 'mcp_1' },
  { owner: 'http/one', connection: 'mcp_1' },
];

test('B3: a persistent shell is found by its holder and by nobody else', () => {
  for (const holder of holders)
    for (const name of ['main', 'one/main', 'mcp_1/main', '100%/', 'ä😀', '\ud800']) {
      const key = toSessionKey(holder, name);
      expect(holders.map((other) => nameOfSession(key, other))).toEqual(
        holders.map((other) => (other === holder ? name : undefined)),
      );
    }
});
