import { expect, test } from 'vitest';
import { toIdentity, toProject, toSessionKey, toSessionName } from './session-key.ts';

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

test('a client has the same identity after a restart, and two tokens never have', () => {
  const caller = { door: 'mcp', client: 'tester' } as const;
  const of = (owner: string) => toIdentity({ caller, owner }, '/project');
  expect(of('mcp_0123456789ab')).toBe(of('mcp_ba9876543210'));
  const tokens = ['http', 'http/team', 'http/team_0123456789ab', 'http/team_ba9876543210', 'http/mcp'];
  expect(new Set([...tokens, 'mcp_0123456789ab'].map(of)).size).toBe(6);
  expect(toProject(of('http'))).toBe('/project');
  for (const other of ['', 'text', '{}', '[1]', 'null']) expect(toProject(other)).toBe(undefined);
});
