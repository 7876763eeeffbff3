import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { temporaryFolder } from '../../../tests/support/temporary-folder.ts';
import type { ApprovalRequest } from './approval.ts';
import { openSavedApprovals } from './saved-approvals.ts';

const request: ApprovalRequest = {
  decision: { verdict: 'ask', rule: 'policy', reason: 'With care.', programs: [] },
  asked: {
    ...{ command: { kind: 'shell', script: 'touch x' }, cwd: '/', env: {}, input: null },
    ...{ into: 'mcp_0123456789ab/main', sandbox: null },
  },
  id: 'cmd_1',
  caller: { door: 'mcp', client: 'tester' },
  owner: 'mcp_0123456789ab',
  signal: undefined,
};
const later = () => Date.now() + 60_000;

/** A folder with one request, whose server is dead. */
function createOrphan(project = '/p') {
  const folder = join(temporaryFolder(), 'approvals');
  const saved = openSavedApprovals(folder, project);
  saved.save('apr_1', request, later());
  const path = join(folder, 'apr_1.json');
  const file = JSON.parse(readFileSync(path, 'utf8'));
  // A process that started at another time has the pid by now.
  writeFileSync(path, JSON.stringify({ ...file, server: { ...file.server, startTime: '1' } }));
  return { folder, saved };
}

test('the request of a living server is not an orphan, that of a dead one is', () => {
  const { folder, saved } = createOrphan();
  saved.save('apr_2', request, later());
  expect(saved.orphans()).toMatchObject([{ id: 'apr_1', request: { id: 'cmd_1' }, answer: null }]);
  expect(openSavedApprovals(folder, '/other').orphans()).toEqual([]);
});

test('an orphan is found by the same client under another owner id, in the same shell', () => {
  const { saved, folder } = createOrphan();
  const { asked } = request;
  const owner = 'mcp_ba9876543210';
  const again = { ...request, id: 'cmd_2', owner, asked: { ...asked, into: `${owner}/main` } };
  expect(saved.findOrphan(again)).toMatchObject({ id: 'apr_1' });
  const different: readonly ApprovalRequest[] = [
    { ...again, asked },
    { ...again, asked: { ...again.asked, into: `${owner}/other` } },
    { ...again, asked: { ...again.asked, command: { kind: 'argv', argv: ['touch', 'x'] } } },
    { ...again, owner: 'token-b' },
    { ...again, caller: { door: 'mcp', client: 'stranger' } },
    { ...again, decision: { ...request.decision, reason: 'Another reason.' } },
  ];
  expect(different.flatMap((one) => saved.findOrphan(one) ?? [])).toEqual([]);
  expect(openSavedApprovals(folder, '/other').findOrphan(again)).toBeUndefined();
});

test('only the first answer counts, and an approval is used up once', () => {
  const { saved } = createOrphan();
  expect(saved.answer('apr_1', { kind: 'declined' }, later())).toBe(true);
  expect(saved.answer('apr_1', { kind: 'approved' }, later())).toBe(false);
  expect(saved.orphans()).toMatchObject([{ answer: { kind: 'declined' } }]);
  expect([saved.take('apr_1'), saved.take('apr_1')]).toEqual([true, false]);
});

test('a damaged file and the draft of a killed server are not requests', () => {
  const { saved, folder } = createOrphan();
  writeFileSync(join(folder, 'apr_3.json'), '{"server":');
  writeFileSync(join(folder, 'apr_4.json.00.draft'), '{}');
  expect(saved.orphans()).toHaveLength(1);
  expect(readdirSync(folder)).toHaveLength(3);
});

test('a request about changes that a command has made is not saved', () => {
  const folder = join(temporaryFolder(), 'approvals');
  const saved = openSavedApprovals(folder, '/p');
  const changes = { state: 'held', files: [], totals: {} } as unknown as ApprovalRequest['changes'];
  saved.save('apr_1', { ...request, changes }, later());
  expect(() => readdirSync(folder)).toThrow(/ENOENT/);
});
