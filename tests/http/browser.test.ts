import { execFileSync } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join, resolve } from 'node:path';
import type { Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { openBrowser } from '../support/browser.ts';
import { serve, type TestServer } from '../support/http.ts';
import { sleep } from '../support/nacre.ts';

let here: TestServer;
let browser: Awaited<ReturnType<typeof openBrowser>>;
let foreign: Server;
let foreignAddress: string;
const screenshotFolder = process.env.NACRE_SCREENSHOTS;

beforeAll(async () => {
  const applets = resolve('dist/applets');
  here = await serve({
    args: ['--applets-dir', applets],
    env: { NACRE_TERMINAL_SHELLS: 'bash', PS1: 'nacre $ ' },
  });
  const repo = join(here.cwd, 'project');
  mkdirSync(repo);
  const git = (...words: string[]) => execFileSync('git', ['-C', repo, ...words], { env: here.env });
  git('init', '-q', '-b', 'main');
  git('config', 'user.email', 'someone@example.net');
  git('config', 'user.name', 'Someone');
  writeFileSync(join(repo, 'a file.txt'), 'first\n');
  git('add', '.');
  git('commit', '-qm', 'A first version');
  writeFileSync(join(repo, 'a file.txt'), 'second\n');
  writeFileSync(join(repo, 'new.txt'), 'new\n');
  browser = await openBrowser();
  foreign = createServer((_, answer) => {
    answer.setHeader('Content-Type', 'text/html');
    answer.end('<!doctype html><title>foreign</title>');
  });
  await new Promise<void>((done) => foreign.listen(0, '127.0.0.1', done));
  foreignAddress = `http://127.0.0.1:${(foreign.address() as AddressInfo).port}`;
}, 60_000);
afterAll(async () => {
  await browser.close();
  foreign.closeAllConnections();
  foreign.close();
  expect(await here.close()).toEqual([]);
});

async function show(page: Page, name: string): Promise<void> {
  if (screenshotFolder) await page.screenshot({ path: join(screenshotFolder, `${name}.png`) });
}

async function startPage(): Promise<Page> {
  const page = await browser.context.newPage();
  const problems: string[] = [];
  page.on('console', (message) => message.type() === 'error' && problems.push(message.text()));
  const { body } = await here.post('/api/link', {});
  await page.goto(String(body.link));
  await page.getByRole('button', { name: 'Open nacre' }).click();
  await page.waitForURL(`${here.address}/`);
  await page
    .getByRole('heading', { name: /running/ })
    .first()
    .waitFor();
  expect(problems).toEqual([]);
  return page;
}

// The status that a page gets from `fetch`, or `refused` if the browser blocks the request or its reply.
const ask = (page: Page, url: string, init: object = {}) =>
  page.evaluate(
    async ([address, options]) => {
      try {
        return (await fetch(address as string, options as RequestInit)).status;
      } catch {
        return 'refused';
      }
    },
    [url, init] as const,
  );

describe('H10: the console', { timeout: 60_000 }, () => {
  test('explains how to sign in, and stops making requests', async () => {
    const page = await browser.context.newPage();
    const asked: string[] = [];
    page.on('request', (request) => request.url().includes('/api/') && asked.push(request.url()));
    await page.clock.install();
    await page.goto(here.address.replace('127.0.0.1', 'localhost'));
    await page.getByRole('heading', { name: 'Open this page with its link' }).waitFor();
    await page.clock.runFor(60_000);
    expect(asked).toHaveLength(1);
    await page.close();
  });

  test('shows what runs and the applets', async () => {
    const slow = here.shell('tail', ['-f', '/dev/null']);
    const page = await startPage();
    await page.getByText('tail -f /dev/null').first().waitFor();
    await page.getByRole('link', { name: 'Git status', exact: true }).click();
    await page.waitForURL(`http://git-status.localhost:${here.port}/`);
    await page.close();
    void slow.catch(() => {});
  });
});

describe('/docs', { timeout: 60_000 }, () => {
  test('shows calls and messages with examples, without a CSP violation, on a phone too', async () => {
    const page = await browser.context.newPage();
    const problems: string[] = [];
    page.on('console', (message) => message.type() === 'error' && problems.push(message.text()));
    page.on('pageerror', ({ message }) => problems.push(message));
    await page.setViewportSize({ width: 390, height: 700 });
    await page.goto(`${here.address}/docs`);
    await page.getByText(/^version /).waitFor();
    const shell = page.locator('#post-api-shell');
    await shell.getByText(`curl -s ${here.address}/api/shell`).waitFor();
    await shell.getByText(`await fetch('${here.address}/api/shell'`).waitFor();
    await page.getByRole('link', { name: 'shell.resize', exact: true }).click();
    await page.locator('[id="shell.resize"]').getByText('"cols":').waitFor();
    await page.locator('[id="shell.exit"]').getByText('duration_ms: integer, required').waitFor();
    expect(await page.evaluate('document.documentElement.scrollWidth <= innerWidth')).toBe(true);
    await show(page, 'docs');
    expect(problems).toEqual([]);
    await page.close();
  });
});

describe('H8: applets in a browser', { timeout: 60_000 }, () => {
  const open = async (name: string) => {
    const page = await startPage();
    await page.getByRole('link', { name, exact: true }).click();
    return page;
  };

  test('git-status shows the status, diff and log of a repository, and refreshes', async () => {
    const page = await open('Git status');
    await page.waitForURL(`http://git-status.localhost:${here.port}/`);
    await page.getByLabel('Repository').fill(join(here.cwd, 'project'));
    await page.getByLabel('Repository').press('Enter');
    await page.getByText('On main: 2 changes.').waitFor();
    await page.getByText('?? new.txt').waitFor();
    await page.getByText('+second').waitFor();
    await page.getByText('A first version').waitFor();
    await show(page, 'git-status');
    writeFileSync(join(here.cwd, 'project', 'third.txt'), 'x');
    await page.getByRole('button', { name: 'Refresh' }).click();
    await page.getByText('On main: 3 changes.').waitFor();
    await page.close();
  });

  test('H9: terminal opens a shell, and resumes it after a lost connection', async () => {
    // Collects the sockets of the page, so that the test can close one as a network failure would.
    await browser.context.addInitScript(`{
      const { WebSocket: Own } = globalThis;
      globalThis.sockets = [];
      globalThis.WebSocket = class extends Own {
        constructor(...words) { super(...words); globalThis.sockets.push(this); }
      };
    }`);
    const page = await open('Terminal');
    await page.waitForURL(`http://terminal.localhost:${here.port}/`);
    await page.getByText('bash', { exact: true }).waitFor();
    await page.keyboard.type('echo $((6 * 7)) in $(tty)');
    await page.keyboard.press('Enter');
    await page.getByText(/42 in \/dev\/pts\/\d+/).waitFor();
    await show(page, 'terminal');
    await page.keyboard.type('kept=before');
    await page.keyboard.press('Enter');
    await page.evaluate('sockets.at(-1).close()');
    // `page.waitForFunction` uses eval, which the CSP of the page forbids.
    const isBack = () => page.evaluate('sockets.length === 2 && sockets[1].readyState === 1');
    for (let tries = 0; tries < 500 && !(await isBack()); tries += 1) await sleep(20);
    expect(await isBack()).toBe(true);
    await page.getByText('bash', { exact: true }).waitFor();
    await page.keyboard.type('echo "$kept and after"');
    await page.keyboard.press('Enter');
    await page.getByText('before and after').waitFor();
    expect(await page.getByText(/42 in \/dev\/pts\/\d+/).count()).toBe(1);
    await page.keyboard.type('exit 3');
    await page.keyboard.press('Enter');
    await page.getByText('The shell ended with code 3').waitFor();
    await page.close();
  });

  test('an applet can neither use another’s permissions nor read its files', async () => {
    const page = await open('Git status');
    await page.waitForURL(`http://git-status.localhost:${here.port}/`);
    const post = (command: string) => ({
      method: 'POST',
      headers: { 'Content-Type': 'application/json' },
      body: JSON.stringify({ command }),
      credentials: 'include',
    });
    expect(await ask(page, '/api/shell', post('git'))).toBe(200);
    expect(await ask(page, '/api/shell', post('bash'))).toBe(403);
    expect(await ask(page, `http://terminal.localhost:${here.port}/api/shell`, post('bash'))).toBe('refused');
    expect(await ask(page, `http://terminal.localhost:${here.port}/`)).toBe('refused');
    expect(await ask(page, `${here.address}/api/now`, { credentials: 'include' })).toBe('refused');
    expect(await ask(page, '/api/tools')).toBe(404);
    await page.close();
  });
});

describe('H10: a page of another origin', { timeout: 60_000 }, () => {
  test('cannot run, read or stream anything, although the browser is signed in', async () => {
    const signedIn = await startPage();
    const page = await browser.context.newPage();
    await page.goto(foreignAddress);
    const body = JSON.stringify({ command: 'git', args: ['--from-elsewhere'] });
    const run = { method: 'POST', body, credentials: 'include' };
    expect(await ask(page, `${here.address}/api/shell`, run)).toBe('refused');
    expect(
      await ask(page, `${here.address}/api/shell`, {
        ...run,
        headers: { 'Content-Type': 'application/json' },
      }),
    ).toBe('refused');
    expect(await ask(page, `${here.address}/api/now`, { credentials: 'include' })).toBe('refused');
    expect(await ask(page, `${here.address}/healthz`)).toBe('refused');
    const socket = await page.evaluate(
      (address) =>
        new Promise((done) => {
          const opened = new WebSocket(address);
          opened.onopen = () => done('open');
          opened.onerror = () => done('refused');
        }),
      `${here.address.replace('http', 'ws')}/api/shell/stream`,
    );
    expect(socket).toBe('refused');
    const ran = await here.send('/api/commands?q=elsewhere', { headers: here.bearer });
    expect(ran.body.commands).toEqual([]);
    await signedIn.close();
    await page.close();
  });

  test('cannot frame the console or an applet', async () => {
    const page = await browser.context.newPage();
    await page.goto(foreignAddress);
    const frame = async (address: string) => {
      await page.evaluate(`new Promise((done) => {
        const made = document.createElement('iframe');
        made.onload = done;
        made.src = ${JSON.stringify(address)};
        document.body.replaceChildren(made);
      })`);
    };
    const shown = () => page.frames().at(-1)?.url();
    // A page that may be framed, to show that the test can tell the difference.
    await frame(`${foreignAddress}/other`);
    await expect.poll(shown).toBe(`${foreignAddress}/other`);
    for (const address of [`${here.address}/`, `http://git-status.localhost:${here.port}/`]) {
      await frame(address);
      await expect.poll(shown).toMatch(/^chrome-error:/);
      await frame(`${foreignAddress}/other`);
      await expect.poll(shown).toBe(`${foreignAddress}/other`);
    }
    await page.close();
  });
});
