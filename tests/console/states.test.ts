import { appendFileSync, mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { CommandCard } from '../../src/contract/console.ts';
import { findingsInThemes } from '../support/axe.ts';
import { openBrowser } from '../support/browser.ts';
import { openConsolePage } from '../support/console-browser.ts';
import { serve, type TestServer } from '../support/http.ts';

let here: TestServer;
let browser: Awaited<ReturnType<typeof openBrowser>>;
const audit = () => join(here.cwd, '.local/state/nacre/audit');

beforeAll(async () => {
  here = await serve({ env: { SHELL_ALLOWLIST: '*' } });
  browser = await openBrowser({ viewport: { width: 1280, height: 900 } });
}, 300_000);
afterAll(async () => {
  await browser.close();
  expect(await here.close()).toEqual([]);
});

describe('the states of the console', { timeout: 600_000 }, () => {
  test('without a session, and with a link that is not valid, it says how to get a link', async () => {
    const stranger = await openBrowser();
    const page = await stranger.context.newPage();
    await page.goto(`${here.address}/commands`);
    await page.getByRole('heading', { name: 'Open this page with its link' }).waitFor();
    expect(await findingsInThemes(page)).toEqual([]);
    const { body } = await here.post('/api/link', {});
    await page.goto(String(body.link).replace(/.{6}$/, 'wrong0'));
    await page.getByText('nacre open').first().waitFor();
    expect(await page.getByRole('navigation', { name: 'Where you are' }).count()).toBe(0);
    expect(await findingsInThemes(page)).toEqual([]);
    await stranger.close();
  });

  test('before the first command it says how to connect an agent', async () => {
    const { page, problems } = await openConsolePage(browser, here);
    await page.getByText('No command has run yet.').first().waitFor();
    for (const path of ['/', '/commands', '/agents', '/approvals', '/audit', '/server']) {
      await page.goto(`${here.address}${path}`);
      await page.getByRole('heading', { level: 1 }).first().waitFor();
      await page.locator('main .loading').waitFor({ state: 'detached' });
      expect(await findingsInThemes(page), path).toEqual([]);
    }
    expect(problems).toEqual([]);
    await page.close();
  });

  test('a page that loads, the list of keys, the question before a pause and the records are accessible', async () => {
    await here.shell('echo', ['for-states']);
    const { page } = await openConsolePage(browser, here);
    const { body } = await here.send('/api/commands?q=for-states', { headers: here.bearer });
    const [card] = body.commands as CommandCard[];
    await page.goto(`${here.address}/commands/${card?.id}`);
    await page.getByRole('tab', { name: 'Records' }).click();
    await page.locator('.records li').first().waitFor();
    expect(await findingsInThemes(page), 'records').toEqual([]);
    await page.keyboard.press('?');
    await page.getByRole('heading', { name: 'Keys' }).waitFor();
    expect(await findingsInThemes(page), 'keys').toEqual([]);
    await page.keyboard.press('Escape');
    await page.getByRole('button', { name: 'Pause everything' }).click();
    await page.getByRole('button', { name: 'Pause now' }).waitFor();
    expect(await findingsInThemes(page), 'pause').toEqual([]);
    await page.getByRole('button', { name: 'Pause now' }).click();
    await page.locator('.line.paused').waitFor();
    expect(await findingsInThemes(page), 'paused').toEqual([]);
    await page.getByRole('button', { name: 'Resume' }).click();
    await page.locator('.line.paused').waitFor({ state: 'detached' });
    // Requests that get no reply keep the page in its first state.
    await page.route('**/api/commands/*', () => {});
    await page.route('**/api/approvals', () => {});
    for (const path of [`/commands/${card?.id}`, '/approvals']) {
      await page.goto(`${here.address}${path}`);
      await page.locator('.loading span').first().waitFor();
      expect(await findingsInThemes(page), `${path} loads`).toEqual([]);
    }
    await page.close();
  });

  test('a page that can only look is accessible, with every act shown and off', async () => {
    const { page, problems } = await openConsolePage(browser, here, { role: 'viewer', name: 'wall' });
    for (const path of ['/', '/approvals', '/server']) {
      await page.goto(`${here.address}${path}`);
      await page.getByText('This page may only look.').first().waitFor();
      await page.locator('main .loading').waitFor({ state: 'detached' });
      expect(await findingsInThemes(page), path).toEqual([]);
    }
    for (const name of ['Pause everything', 'Link for a viewer', 'Link for an operator'])
      expect(await page.getByRole('button', { name }).isDisabled(), name).toBe(true);
    const pause = page.getByRole('button', { name: 'Pause everything' });
    expect(await pause.getAttribute('title')).toBe('This page may only look.');
    expect(problems).toEqual([]);
    await page.close();
  });

  test('a session that ends shows how to get another link, and no data', async () => {
    const { page } = await openConsolePage(browser, here, { path: '/commands' });
    await page.getByRole('link', { name: /for-states/ }).waitFor();
    await page.evaluate("fetch('/api/session', { method: 'DELETE' })");
    await page.reload();
    await page.getByRole('heading', { name: 'Open this page with its link' }).waitFor();
    expect(await page.getByText('for-states').count()).toBe(0);
    await page.close();
  });

  test('the page of an agent shows 300 commands, and leads to all of them', async () => {
    mkdirSync(audit(), { recursive: true });
    const now = Date.now();
    const lines = Array.from({ length: 301 }, (_, index) => {
      const time = new Date(now - 1_000 + index).toISOString();
      const head = { seq: index, time, id: `cmd_busy${String(index).padStart(4, '0')}`, kind: 'asked' };
      return `${JSON.stringify({ ...head, door: 'mcp', client: 'busy', command: `echo ${index}`, cwd: '/srv/busy' })}\n`;
    });
    const day = new Date(now).toISOString().slice(0, 10);
    appendFileSync(join(audit(), `${day}_99999_0123456789ab.jsonl`), lines.join(''));
    const { page, problems } = await openConsolePage(browser, here, { path: '/agents' });
    await page.getByRole('link', { name: 'busy · busy' }).click();
    const rows = page.getByRole('list', { name: 'Commands of this agent' }).getByRole('listitem');
    await expect.poll(() => rows.count()).toBe(300);
    await page.getByRole('link', { name: 'All 301 commands' }).click();
    await page.waitForURL(/\/commands\?agent=/);
    expect(problems).toEqual([]);
    await page.close();
  });

  test('a thousand agents and long names fit on a phone and a desktop', async () => {
    mkdirSync(audit(), { recursive: true });
    const now = Date.now();
    for (let index = 0; index < 1_000; index += 1) {
      // Of many agents the page shows those that ran a command last.
      const time = new Date(now - 1_000 + index).toISOString();
      const client = index === 999 ? `\u202e${'x'.repeat(300)}` : `client-${index}`;
      const head = { seq: 1, time, id: `cmd_many${index}`, door: 'mcp', client };
      const cwd = `/srv/${'deep/'.repeat(40)}${index}`;
      const line = JSON.stringify({ ...head, kind: 'asked', command: 'y'.repeat(500), cwd });
      appendFileSync(join(audit(), `${time.slice(0, 10)}_9${index}_0123456789ab.jsonl`), `${line}\n`);
    }
    const { page, problems } = await openConsolePage(browser, here);
    for (const width of [1280, 390])
      for (const path of ['/', '/agents', '/commands']) {
        await page.setViewportSize({ width, height: 800 });
        await page.goto(`${here.address}${path}`);
        await page
          .getByText(/client-\d+/)
          .first()
          .waitFor({ state: 'attached' });
        expect(
          await page.evaluate('document.documentElement.scrollWidth <= innerWidth'),
          `${path} at ${width}`,
        ).toBe(true);
      }
    await page.goto(`${here.address}/agents`);
    await page
      .getByText(/client-\d+/)
      .first()
      .waitFor();
    expect(await page.evaluate('document.body.textContent.includes("\\u202e")')).toBe(false);
    const rows = page.locator('.agent-row');
    const more = page.getByRole('button', { name: 'Show more' });
    let count = await rows.count();
    expect(count).toBe(200);
    for (; (await more.count()) > 0; count = await rows.count()) {
      await more.click();
      await expect.poll(() => rows.count()).toBeGreaterThan(count);
    }
    expect(count).toBeGreaterThanOrEqual(1_000);
    expect(await page.locator('main .count').textContent()).toBe(count.toLocaleString('en-US'));
    expect(problems).toEqual([]);
    await page.close();
  });
});
