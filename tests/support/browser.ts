import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { chromium } from 'playwright-core';

const args = [
  '--no-sandbox',
  '--disable-gpu',
  '--disable-quic',
  '--no-first-run',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
];

/** The screen of a phone, operated by touch. */
export const phone = { viewport: { width: 390, height: 700 }, hasTouch: true, isMobile: true };

/** Opens the distribution's Chromium with a temporary profile, by default with the screen and mouse of a desktop. */
export async function openBrowser(screen: Partial<typeof phone> = {}, moreArgs: readonly string[] = []) {
  const profile = mkdtempSync(join(tmpdir(), 'nacre-browser-'));
  const context = await chromium.launchPersistentContext(profile, {
    executablePath: '/usr/bin/chromium',
    headless: true,
    args: [...args, ...moreArgs],
    viewport: { width: 1000, height: 700 },
    ...screen,
  });
  return {
    context,
    async close() {
      await context.close();
      rmSync(profile, { recursive: true, force: true });
    },
  };
}
