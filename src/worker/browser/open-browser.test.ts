import { chmodSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { temporaryFolder } from '../../../tests/support/temporary-folder.ts';
import { browserCommands, openBrowser } from './open-browser.ts';

const link = 'http://127.0.0.1:1/open?ticket=x';
const commands = (platform: string, env: Record<string, string>) => browserCommands(link, { platform, env });

describe('the programs that are tried', () => {
  test('are those of the platform', () => {
    expect(commands('darwin', {})).toEqual([['open', link]]);
    expect(commands('linux', { DISPLAY: ':0' })).toEqual([['xdg-open', link]]);
    expect(commands('linux', { WAYLAND_DISPLAY: 'wayland-0' })).toEqual([['xdg-open', link]]);
    expect(commands('linux', { WSL_DISTRO_NAME: 'Debian' })).toEqual([['wslview', link]]);
    expect(commands('linux', {})).toEqual([]);
  });

  test('begin with those in $BROWSER', () => {
    expect(commands('linux', { BROWSER: 'firefox --new-tab:w3m -o %s -q' })).toEqual([
      ['firefox', '--new-tab', link],
      ['w3m', '-o', link, '-q'],
    ]);
  });
});

describe('opening a link', () => {
  const folder = temporaryFolder();
  const seen = join(folder, 'seen');
  const script = (name: string, text: string) => {
    const path = join(folder, name);
    writeFileSync(path, `#!/bin/sh\n${text}\n`);
    chmodSync(path, 0o755);
    return path;
  };
  const open = (BROWSER: string) =>
    openBrowser(link, { platform: 'linux', env: { PATH: '/usr/bin:/bin', BROWSER } });

  test('passes it as one argument, after programs that are missing or fail', async () => {
    const [broken, works] = [script('broken', 'exit 3'), script('works', `printf "%s" "$1" > ${seen}`)];
    expect(await open(`/missing/browser:${broken}:${works}`)).toBe(true);
    expect(readFileSync(seen, 'utf8')).toBe(link);
  });

  test('fails if no program starts', async () => {
    expect(await open('/missing/browser')).toBe(false);
    expect(await open('')).toBe(false);
  });
});
