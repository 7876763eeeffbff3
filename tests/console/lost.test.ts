import type { ChildProcessWithoutNullStreams } from 'node:child_process';
import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { CommandCard, RecordRow } from '../../src/contract/console.ts';
import { findingsInThemes } from '../support/axe.ts';
import { openBrowser } from '../support/browser.ts';
import { isType, openConsole, pageHeaders, signIn } from '../support/console.ts';
import { openConsolePage } from '../support/console-browser.ts';
import { type Cut, createCut } from '../support/cut.ts';
import { callsTo, type Greeting, serve, type TestServer } from '../support/http.ts';
import { connect } from '../support/mcp.ts';
import { collect, createPlace, startReal, survivors } from '../support/nacre.ts';

const screen = { viewport: { width: 1280, height: 900 } };
const open = { ALLOWED_COMMANDS: '*', SHELL_ALLOWLIST: '*' };
const patient = { timeout: 120_000 };

type Calls = ReturnType<typeof callsTo>;
async function cardOf({ send, bearer }: Calls, query: string): Promise<CommandCard> {
  const find = async () =>
    ((await send(`/api/commands?${query}`, { headers: bearer })).body as { commands: CommandCard[] })
      .commands[0];
  await expect.poll(find, patient).toBeDefined();
  return (await find()) as CommandCard;
}
const isLost = (page: Page) => page.getByText('Connection lost').waitFor();
const isFound = (page: Page) => page.getByText('Connection lost').waitFor({ state: 'detached' });

describe('a page that loses its connection', { timeout: 600_000 }, () => {
  let here: TestServer;
  let cut: Cut;
  let browser: Awaited<ReturnType<typeof openBrowser>>;
  beforeAll(async () => {
    here = await serve({ env: open });
    cut = await createCut(here.port);
    browser = await openBrowser(screen, [cut.browserArg]);
  }, 120_000);
  afterAll(async () => {
    await browser.close();
    await cut.close();
    expect(await here.close()).toEqual([]);
  });

  test('says so, and continues the output where it stopped: every line once', async () => {
    const tick = (from: number, to: number) =>
      `for i in $(seq ${from} ${to}); do echo "tick $i"; sleep 0.01; done`;
    const wait = (file: string) => `until [ -e ${file} ]; do sleep 0.05; done`;
    const script = `${tick(1, 40)}; ${wait('first')}; ${tick(41, 80)}; ${wait('second')}; ${tick(81, 120)}`;
    const call = here.shell('bash', ['-c', script]);
    const { id } = await cardOf(here, 'q=tick');
    const { page } = await openConsolePage(browser, here, { path: `/commands/${id}` });
    const shows = (line: string) =>
      page
        .locator('.log .ln .tx')
        .filter({ hasText: new RegExp(`${line}$`) })
        .waitFor();
    await shows('tick 40');
    // The end of the command falls into the second time without a connection.
    for (const [file, last] of [
      ['first', 'tick 80'],
      ['second', 'tick 120'],
    ] as const) {
      cut.cut();
      await isLost(page);
      if (file === 'first') expect(await findingsInThemes(page)).toEqual([]);
      writeFileSync(join(here.cwd, file), '');
      if (file === 'second') await call;
      cut.join();
      await isFound(page);
      await shows(last);
    }
    await page.locator('.status').filter({ hasText: 'Done' }).waitFor();
    const wanted = Array.from({ length: 120 }, (_, index) => `tick ${index + 1}\n`).join('');
    await page.locator('.live').getByText('120 lines').waitFor();
    await page.locator('.live').getByText(`${wanted.length} B`).waitFor();
    await page.locator('.log').press('Home');
    await shows('tick 1');
    const seen = await page.locator('.log .ln:not(.none) .tx').allTextContents();
    expect(`${seen.join('\n')}\n`).toBe(wanted.slice(0, seen.join('\n').length + 1));
    await page.close();
  });

  test('gets the commands and records that it missed, once', async () => {
    const { page } = await openConsolePage(browser, here, { path: '/commands' });
    await here.shell('echo', ['before-the-cut']);
    await page.getByRole('link', { name: /before-the-cut/ }).waitFor();
    cut.cut();
    await isLost(page);
    for (const word of ['missed-one', 'missed-two']) await here.shell('echo', [word]);
    cut.join();
    await isFound(page);
    for (const word of ['missed-one', 'missed-two', 'before-the-cut']) {
      const row = page.getByRole('link', { name: new RegExp(word) });
      await row.first().waitFor();
      expect(await row.count(), word).toBe(1);
    }
    await page.goto(`${here.address}/audit`);
    await page.locator('.audit-list li').filter({ hasText: 'missed-two' }).first().waitFor();
    cut.cut();
    await isLost(page);
    await here.shell('echo', ['missed-three']);
    cut.join();
    await isFound(page);
    const asked = page
      .locator('.audit-list li')
      .filter({ hasText: 'missed-three' })
      .filter({ has: page.locator('b', { hasText: /^asked$/ }) });
    await asked.waitFor();
    const { body } = await here.send('/api/audit?limit=500', { headers: here.bearer });
    const times = (body.records as RecordRow[]).filter(({ kind, command }) =>
      kind === 'asked' ? JSON.stringify(command).includes('missed-three') : false,
    );
    expect(times).toHaveLength(1);
    expect(await asked.count()).toBe(1);
    await page.close();
  });
});

describe('a server that ends', { timeout: 600_000 }, () => {
  async function start(place: ReturnType<typeof createPlace>, port = 0) {
    const child = startReal(['serve', '--port', String(port), '--json'], place);
    const out = collect(child.stdout);
    await expect.poll(() => out.text().includes('\n'), patient).toBe(true);
    const greeting = JSON.parse(out.text()) as Greeting;
    return { child, ...greeting, ...callsTo(greeting) };
  }
  const kill = async (child: ChildProcessWithoutNullStreams) => {
    const ended = once(child, 'exit');
    child.kill('SIGKILL');
    await ended;
  };

  test('killed and started again: the page says so, asks for its link, and then shows everything once', async () => {
    const place = createPlace(open);
    const first = await start(place);
    const browser = await openBrowser(screen);
    const { page } = await openConsolePage(browser, first, { path: '/commands' });
    await first.shell('echo', ['from-the-first']);
    void first.shell('sleep', ['3010']).catch(() => {});
    await page.getByRole('link', { name: /sleep 3010/ }).waitFor();
    await kill(first.child);
    await isLost(page);
    const second = await start(place, Number(new URL(first.address).port));
    await page.getByRole('heading', { name: 'Open this page with its link' }).waitFor();
    const { page: again } = await openConsolePage(browser, second, { path: '/commands' });
    await second.shell('echo', ['from-the-second']);
    for (const [word, state] of [
      ['from-the-first', 'Done'],
      ['sleep 3010', 'Lost'],
      ['from-the-second', 'Done'],
    ] as const) {
      const row = again.getByRole('link', { name: new RegExp(word) });
      await row.filter({ hasText: state }).waitFor();
      expect(await row.count(), word).toBe(1);
    }
    await again.getByRole('link', { name: /sleep 3010/ }).click();
    await again.getByText('The output is gone.').waitFor();
    expect(await findingsInThemes(again)).toEqual([]);
    await browser.close();
    const ended = once(second.child, 'exit');
    second.child.kill('SIGTERM');
    await ended;
    await expect.poll(() => survivors(place.mark), patient).toEqual([]);
  });

  test('a stdio server that is killed leaves a command that is lost, and its records', async () => {
    const here = await serve({ env: open });
    const agent = await connect({ name: 'tester', env: { ...open, HOME: here.cwd } });
    const page = await openConsole(here, pageHeaders(here, await signIn(here)));
    page.send({ type: 'watch' });
    await page.until(isType('now'), 60_000);
    const call = agent.call({ command: 'echo begun; sleep 3011' }).catch(() => {});
    const seen = (state: string) =>
      page.messages
        .flatMap((one) => (one.type === 'live' ? one.cards : []))
        .findLast((card) => card.command.includes('3011') && card.state === state);
    const servers = () => page.messages.flatMap((one) => (one.type === 'live' ? [one.change.servers] : []));
    await expect.poll(() => seen('running'), patient).toBeDefined();
    await expect.poll(() => servers().some((cards) => cards?.length === 2), patient).toBe(true);
    process.kill(agent.pid, 'SIGKILL');
    await call;
    await expect.poll(() => seen('lost'), patient).toBeDefined();
    await expect.poll(() => servers().findLast((cards) => cards !== undefined)?.length, patient).toBe(1);
    const { id, state } = await cardOf(here, 'q=3011');
    expect(state).toBe('lost');
    const { body } = await here.send(`/api/commands/${id}`, { headers: here.bearer });
    expect(body).toMatchObject({ output: 'gone', card: { state: 'lost' } });
    await page.close();
    await agent.close();
    expect(await here.close()).toEqual([]);
  });
});
