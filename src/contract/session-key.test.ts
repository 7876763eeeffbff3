import { expect, test } from 'vitest';
import { nameOfSession, toSessionKey } from './session-key.ts';

const holders = [
  { owner: 'http' },
  { owner: 'http/one' },
  { owner: 'http', connection: 'mcp_1' },
  { owner: 'http/one', connection: 'mcp_1' },
];

test('B3: a persistent shell is found by its holder and by nobody else', () => {
  for (const holder of holders) {
    const key = toSessionKey(holder, 'main');
    expect(holders.filter((other) => nameOfSession(key, other) === 'main')).toEqual([holder]);
    expect(holders.filter((other) => nameOfSession(key, other) !== undefined)).toEqual([holder]);
  }
});
