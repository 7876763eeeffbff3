import { readdirSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { temporaryFolder } from '../../tests/support/temporary-folder.ts';
import { withLock } from '../support/file-lock.ts';
import { lockSuffix, openConfigFile } from './config-file.ts';

test('a file is replaced under its lock, so that two edits at once are never both accepted', () => {
  const folder = temporaryFolder();
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  const path = join(folder, 'config.yaml');
  openConfigFile(path).replace('a: 1\n', join(folder, 'backups'));
  const file = openConfigFile(path);
  let isHeldStill: boolean | undefined;
  // A lock that is held for long counts as abandoned; a waiter takes it, which its holder notices.
  withLock(`${path}${lockSuffix}`, (assertHeld) => {
    if (isHeldStill !== undefined) return;
    file.replace('a: 2\n', join(folder, 'backups'));
    isHeldStill = false;
    assertHeld();
    isHeldStill = true;
  });
  expect(isHeldStill).toBe(false);
  expect(readFileSync(path, 'utf8')).toBe('a: 2\n');
  expect(readdirSync(folder).sort()).toEqual(['backups', 'config.yaml']);
});
