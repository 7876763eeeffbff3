// `npm run docs`: generates docs/reference and the files for registries from the code.
// Node 20 cannot run TypeScript, so the generators are bundled with esbuild first.
import { mkdir, rm, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';

const root = fileURLToPath(new URL('..', import.meta.url));
process.chdir(root);
const bundle = join(root, `node_modules/.nacre-docs-${process.pid}.mjs`);
await build({
  stdin: {
    contents: `export * from './reference-docs.ts'; export * from './packaging-files.ts';`,
    resolveDir: join(root, 'scripts'),
  },
  bundle: true,
  packages: 'external',
  format: 'esm',
  platform: 'node',
  outfile: bundle,
});
const { referenceDocs, packagingFiles } = await import(bundle).finally(() => rm(bundle));

for (const [path, text] of [...referenceDocs, ...packagingFiles]) {
  await mkdir(dirname(join(root, path)), { recursive: true });
  await writeFile(join(root, path), text);
  console.log(path);
}
