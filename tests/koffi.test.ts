import { execFileSync } from 'node:child_process';
import { cpSync, existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { temporaryFolder } from './support/temporary-folder.ts';

const prebuilt = `@koromix/koffi-${process.platform}-${process.arch}`;

test('koffi is optional, and loads its prebuilt file if no install script has run', () => {
  const { optionalDependencies } = JSON.parse(readFileSync('package.json', 'utf8'));
  expect(optionalDependencies).toHaveProperty('koffi');
  const folder = temporaryFolder();
  // Leave out `koffi/build`, which an install script would have created.
  const fromPackage = (path: string) => !path.includes('/koffi/build/');
  for (const name of ['koffi', prebuilt])
    cpSync(join('node_modules', name), join(folder, 'node_modules', name), {
      recursive: true,
      filter: fromPackage,
    });
  expect(existsSync(join(folder, 'node_modules/koffi/build'))).toBe(false);
  const script = `import koffi from 'koffi';
    const getpid = koffi.load(null).func('int getpid()');
    const loaded = process.report.getReport().sharedObjects.filter((path) => path.endsWith('koffi.node'));
    console.log(JSON.stringify({ works: getpid() === process.pid, loaded }));`;
  const args = ['--input-type=module', '-e', script];
  const { works, loaded } = JSON.parse(
    execFileSync(process.execPath, args, { cwd: folder, encoding: 'utf8' }),
  );
  expect(works).toBe(true);
  expect(loaded).toEqual([expect.stringContaining(join(folder, 'node_modules', prebuilt))]);
});
