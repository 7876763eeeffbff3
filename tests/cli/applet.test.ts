import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { manifestSchema } from '../../src/doors/http/applets/manifest.ts';
import { createPlace, startInProcess } from '../support/nacre.ts';

const run = (place: ReturnType<typeof createPlace>, ...words: string[]) =>
  startInProcess(['applet', ...words], place).ended;

describe('nacre applet new', () => {
  test('creates a folder with a valid manifest, and prints the next step', async () => {
    const place = createPlace();
    const { code, stdout, stderr } = await run(place, 'new', 'disk-usage');
    expect([code, stderr]).toEqual([0, '']);
    expect(stdout).toMatch(/^Created applets\/disk-usage: .*\n.*\n {2}nacre serve --applets-dir applets\n/);
    const folder = join(place.cwd, 'applets', 'disk-usage');
    expect(readdirSync(folder).sort()).toEqual([
      'README.md',
      'app.js',
      'applet.json',
      'index.html',
      'style.css',
    ]);
    const manifest = manifestSchema.parse(JSON.parse(readFileSync(join(folder, 'applet.json'), 'utf8')));
    expect(manifest).toMatchObject({ slug: 'disk-usage', title: 'Disk usage', permissions: ['shell:ls'] });
    for (const name of readdirSync(folder))
      expect(readFileSync(join(folder, name), 'utf8')).not.toContain('APPLET_');
    expect(readFileSync(join(folder, 'index.html'), 'utf8')).toContain('<h1>Disk usage</h1>');
  });

  test('uses applets_dir if it is set', async () => {
    const place = createPlace();
    const { code, stdout } = await run(place, 'new', 'a', '--applets-dir', 'one/two');
    expect(code).toBe(0);
    expect(stdout).toContain('Created one/two/a: ');
    expect(existsSync(join(place.cwd, 'one', 'two', 'a', 'app.js'))).toBe(true);
  });

  test('changes nothing that exists', async () => {
    const place = createPlace();
    const folder = join(place.cwd, 'applets', 'mine');
    mkdirSync(folder, { recursive: true });
    writeFileSync(join(folder, 'index.html'), 'kept');
    const { code, stderr } = await run(place, 'new', 'mine');
    expect(code).toBe(125);
    expect(stderr).toMatch(
      /applets\/mine already exists\.\nnacre: Choose another name; nothing was changed\./,
    );
    expect(readdirSync(folder)).toEqual(['index.html']);
    expect(readFileSync(join(folder, 'index.html'), 'utf8')).toBe('kept');
  });

  test.each([
    [['new', 'My Applet!'], /name "My Applet!" must be 1 to 32 characters.*\n.*new my-applet\./],
    [['new', 'Ünïcode'], /Try nacre applet new unicode\./],
    [['new', 'a/../b'], /must be 1 to 32 characters.*\n.*new a-b\./],
    [['new', '..'], /must be 1 to 32 characters.*\n.*disk-usage\.localhost/],
    [['new', 'x'.repeat(33)], /must be 1 to 32 characters/],
    [['new'], /needs a name.*\n.*nacre applet new disk-usage/],
    [['new', 'a', 'b'], /accepts one name/],
    [[], /needs a subcommand; the only one is new/],
    [['list'], /no subcommand list; the only one is new/],
    [['new', 'x', '--applets-dir', '/proc/applets'], /Cannot create \/proc\/applets\/x: .*\n.*--applets-dir/],
  ])('explains what is wrong with %j', async (words, expected) => {
    const place = createPlace();
    const { code, stderr } = await run(place, ...words);
    expect(code).toBe(125);
    expect(stderr).toMatch(expected);
    expect(existsSync(join(place.cwd, 'applets'))).toBe(false);
  });
});
