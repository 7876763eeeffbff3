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
  expect(pages.find(cookie, origin)).toEqual({ origin });
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

test('the number of stored tickets is bounded', () => {
  const pages = createPageSessions();
  const first = pages.issueTicket({ origin });
  for (let index = 0; index < 10_001; index += 1) pages.issueTicket({ origin });
  expect(pages.redeem(first, origin)).toBeUndefined();
  expect(pages.redeem(pages.issueTicket({ origin }), origin)).toBeDefined();
});
