// Writes the pages of docs/reference and the files for registries, which are derived from the code: npm run docs
// Node 20 does not read TypeScript, so what makes them is bundled first, in memory.
import { mkdir, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';

const root = fileURLToPath(new URL('..', import.meta.url));
const { outputFiles } = await build({
  stdin: {
    contents: `export * from './reference-docs.ts'; export * from './packaging-files.ts';`,
    resolveDir: join(root, 'scripts'),
  },
  bundle: true,
  format: 'esm',
  platform: 'node',
  write: false,
});
const code = Buffer.from(outputFiles[0].contents).toString('base64');
const { referenceDocs, packagingFiles } = await import(`data:text/javascript;base64,${code}`);

for (const [path, text] of [...referenceDocs, ...packagingFiles]) {
  await mkdir(dirname(join(root, path)), { recursive: true });
  await writeFile(join(root, path), text);
  console.log(path);
}
