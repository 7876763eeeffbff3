// Writes the pages of docs/reference that are derived from the code: node scripts/generate-docs.mjs
// Node 20 does not read TypeScript, so the pages are bundled first, in memory.
import { mkdir, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';

const root = fileURLToPath(new URL('..', import.meta.url));
const { outputFiles } = await build({
  entryPoints: [join(root, 'scripts/reference-docs.ts')],
  bundle: true,
  format: 'esm',
  platform: 'node',
  write: false,
});
const code = Buffer.from(outputFiles[0].contents).toString('base64');
const { referenceDocs } = await import(`data:text/javascript;base64,${code}`);

for (const [path, text] of referenceDocs) {
  await mkdir(dirname(join(root, path)), { recursive: true });
  await writeFile(join(root, path), text);
  console.log(path);
}
