// Builds dist/console: the page, its worker and its styles, with digests in their names, each also in gzip and brotli.
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { brotliCompressSync, constants, gzipSync } from 'node:zlib';
import { build } from 'esbuild';

const folder = 'dist/console';

const common = {
  outdir: folder,
  entryNames: '[name]-[hash]',
  bundle: true,
  minify: true,
  platform: 'browser',
  target: 'es2023',
  legalComments: 'none',
  metafile: true,
};

/** Builds the console; returns what was bundled, for the notices. */
export async function buildConsole() {
  mkdirSync(folder, { recursive: true });
  const worker = await build({
    ...common,
    entryPoints: { worker: 'src/console/worker/main.ts' },
    format: 'iife',
  });
  const path = `/console/${basename(outputOf(worker, '.js'))}`;
  const page = await build({
    ...common,
    entryPoints: { console: 'src/console/main.tsx' },
    format: 'esm',
    jsx: 'automatic',
    jsxImportSource: 'preact',
    define: { WORKER_PATH: JSON.stringify(path) },
  });
  const html = readFileSync('src/console/index.html', 'utf8')
    .replace('STYLE', basename(outputOf(page, '.css')))
    .replace('SCRIPT', basename(outputOf(page, '.js')));
  writeFileSync(join(folder, 'index.html'), html);
  for (const name of readdirSync(folder)) compress(join(folder, name));
  return [worker, page];
}

function outputOf({ metafile }, suffix) {
  return Object.keys(metafile.outputs).find((path) => path.endsWith(suffix)) ?? '';
}

function compress(path) {
  const bytes = readFileSync(path);
  writeFileSync(`${path}.gz`, gzipSync(bytes, { level: 9 }));
  writeFileSync(
    `${path}.br`,
    brotliCompressSync(bytes, { params: { [constants.BROTLI_PARAM_QUALITY]: 11 } }),
  );
}
