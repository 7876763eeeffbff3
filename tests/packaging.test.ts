import { execFileSync } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { builtCli } from './support/build.ts';
import { createPlace, startReal, survivors } from './support/nacre.ts';
import { temporaryFolder } from './support/temporary-folder.ts';

const unit = readFileSync('packaging/nacre.service', 'utf8');
const settingOf = (key: string) => new RegExp(`^${key}=(.*)$`, 'm').exec(unit)?.[1] ?? '';

const toFreePort = (word: string) => (word === '7433' ? '0' : word);

describe('the systemd unit', () => {
  test('passes systemd-analyze verify', () => {
    const path = join(temporaryFolder(), 'nacre.service');
    // `systemd-analyze` checks that the program exists, and nacre is not installed here.
    writeFileSync(path, unit.replace('ExecStart=nacre', `ExecStart="${builtCli}"`));
    expect(execFileSync('systemd-analyze', ['verify', path], { encoding: 'utf8', stdio: 'pipe' })).toBe('');
  });

  test('starts nacre with a private token file, and SIGTERM ends it within TimeoutStopSec', async () => {
    const place = createPlace();
    const [program, ...words] = settingOf('ExecStart').replaceAll('%h', place.cwd).split(' ');
    expect(program).toBe('nacre');
    const child = startReal(words.map(toFreePort), place);
    const [greeting] = await once(child.stdout, 'data');
    expect(String(greeting)).toMatch(/^nacre \S+ serves on http:\/\/127\.0\.0\.1:\d+\n/);
    const file = join(place.cwd, '.config', 'nacre', 'token');
    expect(statSync(file).mode & 0o777).toBe(0o600);
    expect(String(greeting)).not.toContain(readFileSync(file, 'utf8').trim());
    child.kill('SIGTERM');
    expect(await once(child, 'exit')).toEqual([0, null]);
    expect(await survivors(place.mark)).toEqual([]);
    expect(Number(settingOf('TimeoutStopSec')) * 1_000).toBeGreaterThan(5_000 + 2 * 2_000);
  });
});

test('the image does not copy build results, and its ENTRYPOINT starts a server', async () => {
  const dockerfile = readFileSync('packaging/Dockerfile', 'utf8');
  const ignored = readFileSync('packaging/Dockerfile.dockerignore', 'utf8').split('\n');
  expect(ignored).toEqual(expect.arrayContaining(['node_modules', 'dist', '.git']));
  const [, entry = '[]'] = /^ENTRYPOINT (.*)$/m.exec(dockerfile) ?? [];
  const [, ...words] = JSON.parse(entry) as string[];
  const place = createPlace();
  const child = startReal(words.map(toFreePort), place);
  expect(String((await once(child.stdout, 'data'))[0])).toMatch(/serves on http:\/\/localhost:\d+\n/);
  child.kill('SIGTERM');
  await once(child, 'exit');
  expect(await survivors(place.mark)).toEqual([]);
});
