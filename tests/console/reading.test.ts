import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Locator, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { CommandCard } from '../../src/contract/console.ts';
import { openBrowser } from '../support/browser.ts';
import { openConsolePage, type WatchedPage } from '../support/console-browser.ts';
import { serve, type TestServer } from '../support/http.ts';

const open = { ALLOWED_COMMANDS: '*', SHELL_ALLOWLIST: '*' };
const userFile = `policy:
  - verdict: ask
    program: git
    args: ["push", "..."]
    reason: It leaves this machine.
    examples: { matches: ["git push origin main"], spares: ["git status"] }
`;
let here: TestServer;
let browser: Awaited<ReturnType<typeof openBrowser>>;
let watched: WatchedPage;
let page: Page;

const commandsOf = async (query: string) =>
  ((await here.send(`/api/commands?${query}`, { headers: here.bearer })).body as { commands: CommandCard[] })
    .commands;
async function idOf(query: string): Promise<string> {
  await expect.poll(async () => (await commandsOf(query)).length).toBeGreaterThan(0);
  return (await commandsOf(query))[0]?.id ?? '';
}

beforeAll(async () => {
  here = await serve({ env: open, userFile });
  browser = await openBrowser({ viewport: { width: 1280, height: 800 } });
  await here.shell('false');
  watched = await openConsolePage(browser, here);
  page = watched.page;
}, 120_000);
afterAll(async () => {
  expect(watched.problems).toEqual([]);
  await browser.close();
  expect(await here.close()).toEqual([]);
});

describe('rows under the pointer', { timeout: 300_000 }, () => {
  test('on the page Now no row moves while the pointer does', async () => {
    await page.goto(`${here.address}/`);
    const row = page.getByRole('link', { name: 'false' });
    const box = await row.boundingBox();
    if (!box) throw new Error('The row is not shown.');
    await page.mouse.move(box.x + 40, box.y + box.height / 2);
    // In the page itself, the pointer never rests for as long as `useSteady` waits, however busy the machine is.
    await page.evaluate(`(() => {
      const row = document.elementFromPoint(${box.x + 40}, ${box.y + box.height / 2});
      const move = () => row.dispatchEvent(new PointerEvent('pointermove', { bubbles: true }));
      move();
      globalThis.moving = setInterval(move, 50);
    })()`);
    const call = here.shell('sleep', ['3101']);
    const id = await idOf('q=3101');
    for (let step = 0; step < 20; step += 1) {
      await page.waitForTimeout(50);
      expect(await row.boundingBox()).toEqual(box);
    }
    await page.evaluate('clearInterval(moving)');
    await page.getByRole('link', { name: 'sleep 3101' }).waitFor();
    await here.post(`/api/commands/${id}/stop`, {});
    await call;
  });

  test('new records wait while the list is used, and are shown on request', async () => {
    await page.goto(`${here.address}/audit`);
    const rows = page.locator('.audit-list li');
    await rows.first().hover();
    const pill = page.getByRole('button', { name: /new record/ });
    const record = () => here.shell('echo', ['from later']);
    const recordUntilShown = async () => {
      const label = await pill.textContent();
      await expect.poll(async () => record().then(() => pill.textContent())).not.toBe(label);
    };
    const countAfter = async (row: Locator) => {
      const [time, kind, of] = await Promise.all([
        row.locator('time').getAttribute('datetime'),
        row.locator('b').textContent(),
        row.locator('code').last().textContent(),
      ]);
      const { records } = (await here.send('/api/audit', { headers: here.bearer })).body as {
        records: readonly { time: string; kind: string; id: string }[];
      };
      return records.findIndex((one) => one.time === time && one.kind === kind && one.id === of);
    };
    // Until the page watches records over its socket, none of them is new; then it fetches the list once more.
    await expect.poll(async () => record().then(() => pill.count())).toBe(1);
    await recordUntilShown();
    const [before, place] = [await rows.count(), await rows.first().boundingBox()];
    await recordUntilShown();
    // Records of the last command that arrive after the click would wait as well.
    await expect
      .poll(
        async () => (await countAfter(rows.first())) - Number.parseInt((await pill.textContent()) ?? '', 10),
      )
      .toBe(0);
    expect(await rows.count()).toBe(before);
    expect(await rows.first().boundingBox()).toEqual(place);
    expect(await page.locator('.audit-list:hover').count()).toBe(1);
    await pill.click();
    await rows.getByText('echo from later').first().waitFor();
    expect(await pill.count()).toBe(0);
  });

  test.each([
    ['/audit', '.audit-list', /new record/],
    ['/commands', '.rows-list', /new command/],
  ])(
    'on %s, what arrives while the list is fetched again does not wait as well',
    async (path, list, name) => {
      let release = () => {};
      const isReleased = new Promise<void>((resolve) => {
        release = resolve;
      });
      let fetches = 0;
      // The page fetches the list when it opens, and once more when it is connected.
      const address = new RegExp(`/api${path}\\?`);
      await page.route(address, async (route) => {
        fetches += 1;
        if (fetches > 1) await isReleased;
        await route.continue();
      });
      await page.goto(here.address + path);
      await page.locator(`${list} li`).first().hover();
      await expect.poll(() => fetches).toBe(2);
      const pill = page.getByRole('button', { name });
      const words = `while ${path} is fetched`;
      await expect.poll(async () => here.shell('echo', [words]).then(() => pill.count())).toBe(1);
      release();
      await page.locator(list).getByText(words).first().waitFor();
      await expect.poll(() => pill.count()).toBe(0);
      await page.unroute(address);
    },
  );

  test('the commands of an agent appear and end on its page', async () => {
    const [card] = await commandsOf('q=false');
    await page.goto(`${here.address}/agents/${encodeURIComponent(card?.agent ?? '')}`);
    await page.mouse.move(0, 0);
    const list = page.getByRole('list', { name: 'Commands of this agent' });
    await list.getByText('false').waitFor();
    const call = here.shell('sleep', ['3102']);
    const row = list.getByRole('listitem').filter({ hasText: 'sleep 3102' });
    await row.getByText('Running').waitFor();
    await here.post(`/api/commands/${await idOf('q=3102')}/stop`, {});
    await call;
    await row.getByText('stopped', { exact: true }).waitFor();
    const acts = page.getByRole('region', { name: 'Actions of people' });
    await acts.getByText('sleep 3102').waitFor();
    await here.shell('true', ['last']);
    await list.getByText('true last').waitFor();
    // The bar of a short command at the end of the session is inside of its lane.
    await expect
      .poll(() =>
        page.evaluate(`[...document.querySelectorAll('.blk')].map((bar) => [bar.title,
          bar.getBoundingClientRect().left <= bar.parentElement.getBoundingClientRect().right - 3])`),
      )
      .toContainEqual(['true last', true]);
  });

  test('a question without an answer is shown as not answered, not as refused by a rule', async () => {
    await here.shell('git', ['push', 'origin', 'main']);
    const [card] = await commandsOf('q=push');
    expect(card).toMatchObject({ state: 'refused', verdict: 'ask' });
    await page.goto(`${here.address}/commands/${card?.id}`);
    await page.getByText('The command was not answered, so nothing ran.').waitFor();
    await page.goto(`${here.address}/`);
    await page.getByRole('link', { name: 'git push' }).getByText('not answered', { exact: true }).waitFor();
  });

  test('a running command shows the CPU that it uses now', async () => {
    const call = here.shell('bash', ['-c', 'timeout 3103 sha256sum /dev/zero']);
    const row = page.getByRole('listitem').filter({ hasText: '3103' }).first();
    await page.mouse.move(0, 0);
    await row.getByText(/[1-9]\d* % CPU/).waitFor();
    await here.post(`/api/commands/${await idOf('q=3103')}/stop`, {});
    await call;
  });
});

describe('the log of a running command', { timeout: 300_000 }, () => {
  const shows = (text: string) => page.locator('.log .ln').filter({ hasText: text }).first().waitFor();
  const isFollowing = (name: 'Following' | 'Follow') =>
    page.getByRole('button', { name, exact: true }).waitFor();
  const scrollUp = async () => {
    const top = () => page.evaluate("document.querySelector('.log').scrollTop") as Promise<number>;
    await page.locator('.log').hover();
    const before = await top();
    await page.mouse.wheel(0, -2_000);
    // Keys that are pressed while the wheel still scrolls have no effect.
    await expect.poll(async () => before - (await top())).toBeCloseTo(2_000, -1);
    await isFollowing('Follow');
  };
  const middle = () => page.locator('.log .ln:not(.none) .tx').nth(12).textContent();
  let id = '';
  let call: Promise<unknown>;

  test('is followed until the reader scrolls up, and again at its end or by f', async () => {
    const file = join(here.cwd, 'go-on');
    const [some, last] = [
      'for i in $(seq 300); do echo "line $i"; done',
      'for i in $(seq 212); do echo "new $i"; done',
    ];
    const script = `${some}; echo 'error: one' >&2; ${some}; until [ -e ${file} ]; do sleep 0.05; done; ${last}; sleep 3106`;
    call = here.shell('bash', ['-c', script]);
    id = await idOf('q=3106');
    await page.goto(`${here.address}/commands/${id}`);
    await isFollowing('Following');
    await page.locator('.live').getByText('601 lines').waitFor();
    await scrollUp();
    const before = await middle();
    writeFileSync(file, '');
    const pill = page.getByRole('button', { name: '212 new lines' });
    await pill.waitFor();
    expect(await middle()).toBe(before);
    await pill.click();
    await shows('new 212');
    await isFollowing('Following');
    await scrollUp();
    await page.keyboard.press('f');
    await isFollowing('Following');
    await scrollUp();
    await page.locator('.log').press('End');
    await isFollowing('Following');
  });

  test('has keys for errors, times, wrapping and search, and copies text without line numbers', async () => {
    await browser.context.grantPermissions(['clipboard-read', 'clipboard-write']);
    const copied = () => page.evaluate('navigator.clipboard.readText()') as Promise<string>;
    await page.keyboard.press('e');
    await page.locator('.log .ln.sel.err.two').filter({ hasText: 'error: one' }).waitFor();
    await page.waitForURL(/\?at=\d+$|commands\/cmd_\w+$/);
    await page.locator('.log').press('Home');
    const firstTime = page.locator('.log .ln').filter({ hasText: 'line 1' }).first().locator('time');
    await expect.poll(() => firstTime.textContent()).toMatch(/^\+0:0\d$/);
    await page.keyboard.press('t');
    await expect.poll(() => firstTime.textContent()).toMatch(/^\d\d:\d\d:\d\d$/);
    await page.keyboard.press('t');
    await page.locator('.log.no-times').waitFor();
    await page.keyboard.press('t');
    await page.keyboard.press('w');
    await page.locator('.log.wrapped').waitFor();
    await page.keyboard.press('w');
    await page.locator('.log:not(.wrapped)').focus();
    await page.keyboard.press('Control+f');
    expect(await page.evaluate('document.activeElement.id')).toBe('find');
    await page.keyboard.press('Escape');
    await page.keyboard.press('y');
    await page.getByText('The address is copied.').waitFor();
    expect(await copied()).toBe(page.url());
    await page.locator('summary[aria-label="Copy"]').click();
    await page.getByRole('button', { name: 'Command and output' }).click();
    await page.getByText('1 line is copied.').waitFor();
    expect(await copied()).toMatch(/^\$ bash -c .*\nerror: one$/s);
    await page.getByRole('button', { name: 'Copy the command' }).click();
    await page.getByText('The command is copied.').waitFor();
    expect(await copied()).toContain('sleep 3106');
  });

  test('leads to the command before it and after it, and to its agent', async () => {
    await page.keyboard.press('[');
    await page.waitForURL((url) => url.pathname.startsWith('/commands/') && !url.pathname.endsWith(id));
    await page.locator('.blk[aria-selected="true"]').waitFor();
    await page.keyboard.press(']');
    await page.waitForURL(`${here.address}/commands/${id}`);
    await here.post(`/api/commands/${id}/stop`, {});
    await call;
    await page.getByRole('navigation', { name: 'Where you are' }).getByRole('link').nth(1).click();
    await page.waitForURL(/\/agents\//);
  });
});

describe('a log on a narrow screen', { timeout: 300_000 }, () => {
  test('wraps lines where it has counted them, and follows while the screen is turned', async () => {
    const script = `for i in $(seq 80); do printf '%s %0250d\\n' line $i; done; echo the end; sleep 3105`;
    const call = here.shell('bash', ['-c', script]);
    const id = await idOf('q=3105');
    await page.goto(`${here.address}/commands/${id}`);
    // How far the last line is above the lower edge.
    const below = () =>
      page.evaluate(`(() => {
        const last = [...document.querySelectorAll('.log .ln:not(.none)')].findLast((row) => row.textContent.includes('the end'));
        const edge = document.querySelector('.log').getBoundingClientRect().bottom;
        return last === undefined ? NaN : Math.abs(edge - last.getBoundingClientRect().bottom);
      })()`);
    for (const [width, height] of [
      [390, 844],
      [844, 390],
      [390, 844],
      [320, 640],
      [1280, 800],
    ] as const) {
      await page.setViewportSize({ width, height });
      await expect.poll(below, { message: `${width} by ${height}`, timeout: 30_000 }).toBeLessThan(24);
      await page.getByRole('button', { name: 'Following' }).waitFor();
    }
    await here.post(`/api/commands/${id}/stop`, {});
    await call;
  });
});

describe('addresses', { timeout: 300_000 }, () => {
  test('the records of a command have an address', async () => {
    const id = await idOf('q=from');
    await page.goto(`${here.address}/commands/${id}?at=0`);
    await page.getByRole('tab', { name: 'Records' }).click();
    await page.waitForURL(/\?at=0&view=records$/);
    await page.reload();
    expect(await page.getByRole('tab', { name: 'Records' }).getAttribute('aria-selected')).toBe('true');
    await page.getByText('fields').first().waitFor();
    await page.keyboard.press('1');
    await page.waitForURL(/\?at=0$/);
    await page.keyboard.press('2');
    await page.waitForURL(/\?at=0&view=records$/);
  });

  test('the filters of the page Audit are shown, also when no record matches, and can be removed', async () => {
    const id = await idOf('q=from');
    await page.goto(`${here.address}/audit?q=no-such-text&kind=asked&id=${id}`);
    await page.getByText('No record matches.').waitFor();
    const chips = page.getByRole('list', { name: 'Filters' });
    await chips.getByRole('button', { name: 'text: no-such-text' }).click();
    await page.waitForURL(`${here.address}/audit?kind=asked&id=${id}`);
    await expect.poll(() => page.locator('.audit-list li').count()).toBe(1);
    const exported = `${here.address}/api/audit/export?kind=asked&id=${id}`;
    const text = await (await fetch(exported, { headers: here.bearer })).text();
    expect(text.trim().split('\n')).toHaveLength(1);
    await chips.getByRole('button', { name: 'Clear' }).click();
    await page.waitForURL(`${here.address}/audit`);
    expect(await chips.count()).toBe(0);
  });

  test('Esc goes back, and from the first page of a tab to the list above it', async () => {
    const id = await idOf('q=from');
    await page.goto(`${here.address}/commands/${id}`);
    await page.getByRole('heading', { name: 'echo from later' }).waitFor();
    await page.keyboard.press('Escape');
    await page.waitForURL(`${here.address}/commands`);
    await page.getByRole('link', { name: 'echo from later' }).first().click();
    await page.getByRole('heading', { name: 'echo from later' }).waitFor();
    await page.keyboard.press('Escape');
    await page.waitForURL(`${here.address}/commands`);
  });

  test('an address with an invalid encoding is a page that does not exist', async () => {
    await page.goto(`${here.address}/commands/%E0%A4%A`);
    await page.getByRole('navigation', { name: 'Console', exact: true }).waitFor();
    watched.problems.splice(0);
  });

  test('the link to Commands keeps the filters, but not the words', async () => {
    await page.goto(`${here.address}/commands?outcome=failed&q=false`);
    await page.getByRole('button', { name: 'outcome: failed' }).waitFor();
    const rail = page.getByRole('navigation', { name: 'Console', exact: true });
    await rail.getByRole('link', { name: 'Now', exact: true }).click();
    await rail.getByRole('link', { name: 'Commands' }).click();
    await page.waitForURL(`${here.address}/commands?outcome=failed`);
    await rail.getByRole('link', { name: 'Commands' }).click();
    await page.waitForURL(`${here.address}/commands`);
  });
});

describe('the keyboard', { timeout: 300_000 }, () => {
  const focused = () =>
    page.evaluate('document.activeElement.id || document.activeElement.textContent') as Promise<string>;

  test('keeps its place when a question appears before a pause, and when it is gone', async () => {
    await page.goto(`${here.address}/`);
    await page.getByRole('link', { name: 'false' }).first().waitFor();
    await page.getByRole('button', { name: 'Pause everything' }).focus();
    await page.keyboard.press('Enter');
    await expect.poll(focused).toBe('Cancel');
    await page.keyboard.press('Shift+Tab');
    // The rail is rendered again every second.
    await page.waitForTimeout(1_500);
    expect(await focused()).toBe('Pause now');
    await page.keyboard.press('Escape');
    await expect.poll(focused).toBe('Pause everything');
  });

  test('moves to the content after a command was stopped', async () => {
    const call = here.shell('sleep', ['3104']);
    const id = await idOf('q=3104');
    await page.goto(`${here.address}/commands/${id}`);
    await page.getByRole('button', { name: 'Stop', exact: true }).waitFor();
    await page.keyboard.press('x');
    await expect.poll(focused).toBe('Stop it now');
    await page.keyboard.press('Enter');
    await call;
    await page.locator('.status.bad').waitFor();
    expect(await focused()).toBe('main');
  });
});

test('the page Server shows the settings that are set, and by what', { timeout: 120_000 }, async () => {
  await page.goto(`${here.address}/server`);
  const settings = page.getByRole('region', { name: 'Settings in force' });
  await settings.getByRole('row', { name: /^shell_allowlist .* SHELL_ALLOWLIST$/ }).waitFor();
  expect(await settings.getByRole('row', { name: /^http_host / }).count()).toBe(0);
  await settings.getByText('with their default values').click();
  await settings.getByRole('row', { name: /^http_host / }).waitFor();
});
