import { chmodSync, mkdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { expect, it } from 'vitest';
import { temporaryFolder } from '../../tests/support/temporary-folder.ts';
import { readSettingsFiles } from './settings-files.ts';

function createHome() {
  const home = temporaryFolder();
  const cwd = join(home, 'project/src');
  mkdirSync(cwd, { recursive: true });
  const write = (path: string, text: string) => {
    mkdirSync(dirname(join(home, path)), { recursive: true });
    writeFileSync(join(home, path), text);
    return { path: join(home, path), text };
  };
  return { home, cwd, write, places: { home, cwd, configHome: join(home, '.config'), named: undefined } };
}

it('returns nothing if there are no files', () => {
  const { places } = createHome();
  expect(readSettingsFiles(places)).toEqual({});
  expect(readSettingsFiles({ ...places, cwd: '/' })).toEqual({});
});

it('finds the nearest project file, searching up to the home directory', () => {
  const { places, write } = createHome();
  const atHome = write('nacre.yaml', 'a');
  expect(readSettingsFiles(places)).toEqual({ project: atHome });
  const nearer = write('project/nacre.yaml', 'b');
  expect(readSettingsFiles(places)).toEqual({ project: nearer });
  expect(readSettingsFiles({ ...places, home: dirname(places.cwd) })).toEqual({ project: nearer });
  expect(readSettingsFiles({ ...places, home: places.cwd })).toEqual({});
});

it('reads the user file, or the file that --config names', () => {
  const { places, write } = createHome();
  const own = write('.config/nacre/config.yaml', 'own');
  const xdg = write('xdg/nacre/config.yaml', 'xdg');
  const named = write('project/src/named.yaml', 'named');
  expect(readSettingsFiles(places)).toEqual({ user: own });
  expect(readSettingsFiles({ ...places, configHome: join(places.home, 'xdg') })).toEqual({ user: xdg });
  expect(readSettingsFiles({ ...places, named: 'named.yaml' })).toEqual({ user: named });
  expect(readSettingsFiles({ ...places, named: named.path })).toEqual({ user: named });
});

it.each(['/dev/zero', '/proc/self/fd'])('refuses to read %s, which is not a regular file', (target) => {
  const { places } = createHome();
  symlinkSync(target, join(places.cwd, 'nacre.yaml'));
  expect(() => readSettingsFiles(places)).toThrow(/nacre\.yaml cannot be read: it is not a regular file\.$/);
  rmSync(join(places.cwd, 'nacre.yaml'));
  expect(readSettingsFiles({ ...places, named: '/dev/null' })).toEqual({
    user: { path: '/dev/null', text: '' },
  });
});

it('refuses to read a file of more than 1 MiB', () => {
  const { places, write } = createHome();
  write('project/nacre.yaml', `# ${'x'.repeat(1_048_576)}`);
  expect(() => readSettingsFiles(places)).toThrow('it is larger than 1048576 bytes.');
});

it('E8: an unreadable file aborts the start, and the error names it', () => {
  const { places, write } = createHome();
  expect(() => readSettingsFiles({ ...places, named: 'missing.yaml' })).toThrow(
    expect.objectContaining({
      code: 'settings_invalid',
      message: expect.stringContaining('src/missing.yaml'),
    }),
  );
  mkdirSync(join(places.cwd, 'nacre.yaml'));
  expect(() => readSettingsFiles(places)).toThrow(/src\/nacre\.yaml cannot be read/);
  const own = write('.config/nacre/config.yaml', 'own');
  chmodSync(own.path, 0o000);
  const asRoot = process.getuid?.() === 0;
  const read = () => readSettingsFiles({ ...places, cwd: '/' });
  if (asRoot) expect(read()).toEqual({ user: own });
  else expect(read).toThrow(/config\.yaml cannot be read/);
});
