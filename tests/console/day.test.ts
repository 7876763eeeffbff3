import { appendFileSync, mkdirSync } from 'node:fs';
import { join } from 'node:path';
import type { Page } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { openBrowser } from '../support/browser.ts';
import { openConsolePage } from '../support/console-browser.ts';
import { type Cut, createCut } from '../support/cut.ts';
import { serve, type TestServer } from '../support/http.ts';

const commands = 50_000;
const batches = 50;
const begin = Date.now() - commands;
let here: TestServer;
let cut: Cut;
let browser: Awaited<ReturnType<typeof openBrowser>>;

beforeAll(async () => {
  here = await serve({ env: { SHELL_ALLOWLIST: '*' } });
  cut = await createCut(here.port);
  browser = await openBrowser({ viewport: { width: 1280, height: 900 } }, [cut.browserArg]);
}, 300_000);
afterAll(async () => {
  await browser.close();
  await cut.close();
  expect(await here.close()).toEqual([]);
});

// Four records a command, as another server would write them.
function writeBatch(batch: number): void {
  const dir = join(here.cwd, '.local/state/nacre/audit');
  mkdirSync(dir, { recursive: true });
  const each = commands / batches;
  const lines: string[] = [];
  for (let number = batch * each; number < (batch + 1) * each; number += 1) {
    const id = `cmd_${number.toString(16).padStart(12, '0')}`;
    const time = new Date(begin + number).toISOString();
    const common = { time, id, door: 'mcp', client: 'a-day', cwd: '/' };
    const kinds = [
      { kind: 'asked', command: `echo day-${number}` },
      { kind: 'decided', verdict: 'allow', rule: 'listed', reason: 'It is listed.', programs: ['echo'] },
      { kind: 'started' },
      { kind: 'finished', status: 'completed', exit_code: 0, duration_ms: 5, stdout_bytes: 9 },
    ];
    for (const [index, more] of kinds.entries())
      lines.push(`${JSON.stringify({ seq: number * 4 + index, ...common, ...more })}\n`);
  }
  appendFileSync(
    join(dir, `${new Date(begin).toISOString().slice(0, 10)}_999999_0123456789ab.jsonl`),
    lines.join(''),
  );
}

// The memory of the page itself; its worker keeps no list of events.
async function measureHeap(page: Page): Promise<number> {
  const session = await page.context().newCDPSession(page);
  await session.send('HeapProfiler.collectGarbage');
  const { usedSize } = await session.send('Runtime.getHeapUsage');
  return usedSize;
}

const countNodes = (page: Page) => page.evaluate("document.querySelectorAll('*').length");

test('a page that is open for a day with 200,000 events loses and doubles nothing, and stays small', {
  timeout: 600_000,
}, async () => {
  const { page, problems } = await openConsolePage(browser, here, { path: '/commands' });
  await page.getByText('No command has run yet.').waitFor();
  for (let batch = 0; batch < batches; batch += 1) {
    if (batch === 20) cut.cut();
    writeBatch(batch);
    if (batch === 22) cut.join();
    await page.waitForTimeout(50);
  }
  await page.getByText('Connection lost').waitFor({ state: 'detached' });
  await page.getByRole('link', { name: `echo day-${commands - 1}` }).waitFor();
  const shown = await page.locator('.rows-list .what').allTextContents();
  expect(shown.length).toBeGreaterThan(0);
  const numbers = shown.map((text) => Number(text.split('-')[1]));
  expect(new Set(numbers).size).toBe(numbers.length);
  expect(numbers).toEqual(numbers.map((_, index) => commands - 1 - index));
  const { body } = await here.send('/api/now', { headers: here.bearer });
  expect(body.total).toBe(commands);
  expect(await measureHeap(page)).toBeLessThan(60e6);
  expect(await countNodes(page)).toBeLessThan(20_000);
  await page.goto(`${here.address}/audit`);
  await page.locator('.audit-list li').filter({ hasText: 'finished' }).first().waitFor();
  expect(await page.locator('.audit-list li').count()).toBeLessThanOrEqual(1_000);
  expect(problems.filter((problem) => !/ERR_|WebSocket/.test(problem))).toEqual([]);
  await page.close();
});
