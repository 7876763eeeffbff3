import { expect, test } from 'vitest';
import { createPageSessions } from './page-sessions.ts';

const origin = 'http://127.0.0.1:1';

test('H10: a link opens one session, once, and only for its origin', () => {
  const pages = createPageSessions();
  const ticket = pages.issueTicket({ origin });
  expect(pages.redeem(ticket, 'http://localhost:1')).toBeUndefined();
  const cookie = pages.redeem(ticket, origin) ?? '';
  expect(cookie).toMatch(/^[\w-]{32}$/);
  expect(pages.redeem(ticket, origin)).toBeUndefined();
  expect(pages.find(cookie, origin)).toMatchObject({ origin });
  expect(pages.find(cookie, 'http://127.0.0.1:2')).toBeUndefined();
  expect(pages.find('', origin)).toBeUndefined();
});

test('H8: links and sessions expire, those of applets sooner, and use renews a session', () => {
  let now = 0;
  const pages = createPageSessions(() => now);
  const old = pages.issueTicket({ origin });
  const cookie = pages.redeem(pages.issueTicket({ origin, slug: 'a' }), origin) ?? '';
  now += 1_799_000;
  expect(pages.redeem(old, origin)).toBeUndefined();
  expect(pages.find(cookie, origin)).toMatchObject({ slug: 'a' });
  now += 1_799_000;
  expect(pages.find(cookie, origin)).toMatchObject({ slug: 'a' });
  now += 1_801_000;
  expect(pages.find(cookie, origin)).toBeUndefined();
});

test('a session is kept while its page has a socket, is listed, and can be ended from elsewhere', () => {
  let now = 0;
  const pages = createPageSessions(() => now);
  const cookie = pages.redeem(pages.issueTicket({ origin, role: 'viewer', name: 'wall' }), origin) ?? '';
  pages.redeem(pages.issueTicket({ origin, slug: 'a' }), origin);
  const id = pages.find(cookie, origin)?.id ?? '';
  let ends = 0;
  const release = pages.hold(id, () => {
    ends += 1;
  });
  now += 48 * 3_600_000;
  expect(pages.list()).toMatchObject([{ id, role: 'viewer', name: 'wall', open: true }]);
  release();
  now += 11 * 3_600_000;
  expect(pages.list()).toMatchObject([{ id, open: false }]);
  pages.hold(id, () => {
    ends += 1;
  });
  expect(pages.endById(id)).toMatchObject({ name: 'wall' });
  expect([ends, pages.find(cookie, origin), pages.endById(id), pages.list()]).toEqual([
    ...[1, undefined, undefined, []],
  ]);
});

test('the number of stored tickets is bounded', () => {
  const pages = createPageSessions();
  const first = pages.issueTicket({ origin });
  for (let index = 0; index < 10_001; index += 1) pages.issueTicket({ origin });
  expect(pages.redeem(first, origin)).toBeUndefined();
  expect(pages.redeem(pages.issueTicket({ origin }), origin)).toBeDefined();
});
