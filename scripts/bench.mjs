// `npm run bench`: builds nacre and the benchmarks, then runs them one after the other.
import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { build } from 'esbuild';

const wanted = process.argv.slice(2);
const names = readdirSync('bench').filter((file) => file.endsWith('.bench.ts'));
// The soak takes half an hour, so it only runs if it is named.
const chosen = names.filter((name) =>
  wanted.length === 0 ? !name.startsWith('soak') : wanted.some((word) => name.includes(word)),
);
// Below node_modules, so that the bundles can resolve the packages that they import.
mkdirSync('node_modules/.cache', { recursive: true });
const outdir = mkdtempSync('node_modules/.cache/nacre-bench-');
try {
  spawnSync(process.execPath, ['scripts/build.mjs'], { stdio: 'inherit' });
  await build({
    entryPoints: chosen.map((name) => `bench/${name}`),
    outdir,
    outExtension: { '.js': '.mjs' },
    bundle: true,
    platform: 'node',
    target: 'node20.19',
    format: 'esm',
    packages: 'external',
  });
  for (const name of chosen)
    spawnSync(process.execPath, ['--expose-gc', join(outdir, name.replace('.ts', '.mjs'))], {
      stdio: 'inherit',
      // The bundles are elsewhere than the files that look for dist/.
      env: { ...process.env, NACRE_TEST_ROOT: `${process.cwd()}/` },
    });
} finally {
  rmSync(outdir, { recursive: true, force: true });
}
