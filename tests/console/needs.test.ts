import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { CommandCard, RecordRow } from '../../src/contract/console.ts';
import { findingsInThemes } from '../support/axe.ts';
import { openBrowser } from '../support/browser.ts';
import { openConsolePage } from '../support/console-browser.ts';
import { serve, type TestServer } from '../support/http.ts';
import { connect } from '../support/mcp.ts';

const open = { ALLOWED_COMMANDS: '*', SHELL_ALLOWLIST: '*' };
const patient = { timeout: 120_000 };
let here: TestServer;
let agent: Awaited<ReturnType<typeof connect>>;
let browser: Awaited<ReturnType<typeof openBrowser>>;

beforeAll(async () => {
  here = await serve({ env: open });
  agent = await connect({ name: 'codex', env: { ...open, HOME: here.cwd } });
  browser = await openBrowser({ viewport: { width: 1280, height: 900 } });
}, 300_000);
afterAll(async () => {
  await browser.close();
  await agent.close();
  expect(await here.close()).toEqual([]);
});

const get = async (path: string) => (await here.send(path, { headers: here.bearer })).body;
const commandsOf = async (query: string) => (await get(`/api/commands?${query}`)).commands as CommandCard[];
const asks = (name: string) =>
  agent.client.callTool({
    name: 'start_command',
    arguments: { command: `printf 'Password: '; read -r word; echo "got $word"; sleep 3040`, name },
  });

describe('what needs you', { timeout: 300_000 }, () => {
  test('a command that waits for input is there with its question, and is answered there', async () => {
    const { page, problems } = await openConsolePage(browser, here);
    await asks('psql');
    const card = page.locator('.ask.awaiting');
    await card.locator('pre').getByText('Password:').waitFor();
    await page.getByText('1 needs you').first().waitFor();
    await card.getByText('bash is blocked reading its stdin.').waitFor();
    expect(await page.evaluate('document.activeElement.closest(".ask") === null')).toBe(true);
    expect(await findingsInThemes(page)).toEqual([]);
    // The question is about a password, so the field hides what is typed.
    expect(await card.getByRole('checkbox', { name: 'secret' }).isChecked()).toBe(true);
    expect(await card.getByLabel('Answer').getAttribute('type')).toBe('password');
    await card.getByLabel('Answer').fill('hunter2');
    await card.getByRole('button', { name: 'Send' }).click();
    await card.waitFor({ state: 'detached' });
    const [found] = await commandsOf('q=3040');
    const { records } = (await get(`/api/commands/${found?.id}`)) as { records: RecordRow[] };
    const typed = records.find(({ kind }) => kind === 'input');
    expect(typed).toMatchObject({ chars: 8, client: 'page desk' });
    expect(JSON.stringify(typed)).not.toContain('hunter2');
    expect(problems).toEqual([]);
    await page.close();
  });

  test('a viewer sees it and cannot answer', async () => {
    const { page } = await openConsolePage(browser, here, { role: 'viewer', name: 'wall' });
    await asks('again');
    const card = page.locator('.ask.awaiting');
    await card.getByText('This page may only look.').first().waitFor();
    expect(await card.getByRole('button', { name: 'Send' }).isDisabled()).toBe(true);
    expect(await card.locator('button:enabled, input:enabled').count()).toBe(0);
    expect(await findingsInThemes(page)).toEqual([]);
    const { id } = (await commandsOf('q=3040')).find(({ awaiting }) => awaiting) ?? {};
    const status = await page.evaluate(
      `fetch('/api/commands/${id}/type', { method: 'POST', headers: { 'Content-Type': 'application/json' }, body: '{"text":"x\\\\n"}' }).then((reply) => reply.status)`,
    );
    expect(status).toBe(403);
    await page.close();
  });

  test('in a terminal, keys can be pressed that a field cannot send', async () => {
    const command = 'read -rsn3 key; printf "pressed %q" "$key"; sleep 3040';
    await agent.client.callTool({ name: 'start_command', arguments: { command, name: 'keys', pty: true } });
    const { page, problems } = await openConsolePage(browser, here);
    const card = page.locator('.ask.awaiting').filter({ hasText: 'rsn3' });
    await card.getByText('bash is blocked reading its terminal.').waitFor();
    await card.getByText('Keys', { exact: true }).click();
    await card.getByRole('button', { name: 'Up' }).click();
    await card.waitFor({ state: 'detached' });
    const { id } = (await commandsOf('q=rsn3'))[0] ?? {};
    const { records } = (await get(`/api/commands/${id}`)) as { records: RecordRow[] };
    expect(records.find(({ kind }) => kind === 'input')).toMatchObject({ client: 'page desk', keys: ['up'] });
    const output = await fetch(`${here.address}/api/commands/${id}/output`, { headers: here.bearer });
    expect(await output.text()).toContain("pressed $'\\E[A'");
    expect(problems).toEqual([]);
    await page.close();
  });

  test('a notification appears if the user has turned it on and the page is in the background', async () => {
    await browser.context.addInitScript(`globalThis.shown = [];
      globalThis.Notification = class {
        static permission = 'granted';
        static async requestPermission() { return 'granted'; }
        constructor(title, options) { shown.push([title, options.body]); }
        close() {}
      };
      Document.prototype.hasFocus = () => globalThis.isInFront ?? false;`);
    const { page, problems } = await openConsolePage(browser, here, { path: '/server' });
    await page.getByRole('checkbox', { name: 'Notify me when something needs me' }).check();
    await page.evaluate('isInFront = true');
    const waits = async () => (await commandsOf('q=3040')).filter(({ awaiting }) => awaiting).length;
    const before = await waits();
    await asks('in-front');
    await expect.poll(waits, patient).toBe(before + 1);
    await page
      .getByText(`${before + 1} need you`)
      .first()
      .waitFor();
    await page.evaluate('isInFront = false');
    await asks('behind');
    await expect.poll(() => page.evaluate('shown.length'), patient).toBe(1);
    expect(await page.evaluate('shown[0].join(" / ")')).toMatch(/^codex.*waits for input \/ printf/);
    expect(problems).toEqual([]);
    await page.close();
  });
});

describe('open pages', { timeout: 300_000 }, () => {
  test('are listed by name, and one of them can be signed out from another', async () => {
    const elsewhere = await openBrowser();
    const { page: tablet } = await openConsolePage(elsewhere, here, { role: 'viewer', name: 'tablet' });
    const { page, problems } = await openConsolePage(browser, here, { path: '/server' });
    const row = page.locator('.pages-list li').filter({ hasText: 'tablet' });
    await row.getByText('may look, open now').waitFor();
    await page.locator('.pages-list').getByText('desk (this one)').waitFor();
    await row.getByRole('button', { name: 'Sign out tablet' }).click();
    await row.waitFor({ state: 'detached' });
    await tablet.getByRole('heading', { name: 'Open this page with its link' }).waitFor();
    const { records } = (await get('/api/audit?kind=signed_out')) as { records: RecordRow[] };
    expect(records[0]).toMatchObject({ client: 'page desk', detail: 'viewer tablet' });
    expect(problems).toEqual([]);
    await elsewhere.close();
    await page.close();
  });

  test('a viewer cannot sign others out', async () => {
    const { page } = await openConsolePage(browser, here, { role: 'viewer', name: 'wall', path: '/server' });
    await page.locator('.pages-list li').first().waitFor();
    const { pages } = (await get('/api/pages')) as { pages: { id: string }[] };
    const status = await page.evaluate(
      `fetch('/api/pages/${pages[0]?.id}', { method: 'DELETE' }).then((reply) => reply.status)`,
    );
    expect(status).toBe(403);
    const button = page.getByRole('button', { name: /^Sign out ./ }).first();
    expect(await button.isDisabled()).toBe(true);
    expect(await button.getAttribute('title')).toBe('This page may only look.');
    await page.close();
  });
});
