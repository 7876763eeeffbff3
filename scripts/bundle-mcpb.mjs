// `npm run bundle:mcpb`: packs the built server and its manifest into one .mcpb file, which desktop clients can install.
// node scripts/bundle-mcpb.mjs [FOLDER] writes it to FOLDER, by default the project's root.
import { readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { toZip } from './write-zip.mjs';

const target = resolve(process.argv[2] ?? '.');
process.chdir(fileURLToPath(new URL('..', import.meta.url)));
const { name, version } = JSON.parse(readFileSync('package.json', 'utf8'));
const code = readdirSync('dist', { recursive: true, withFileTypes: true })
  .filter((entry) => entry.isFile())
  .map((entry) => join(entry.parentPath, entry.name))
  // The compiled code in a cache is that of one version of Node.
  .filter((path) => !path.startsWith('dist/types/') && !path.endsWith('.cache'));
const files = ['package.json', 'LICENSE', 'README.md', ...code.sort()].map((path) => ({ path, from: path }));
const bundle = toZip(
  [{ path: 'manifest.json', from: 'packaging/manifest.json' }, ...files].map(({ path, from }) => ({
    path,
    data: readFileSync(from),
    mode: statSync(from).mode & 0o777,
  })),
);
const file = join(target, `${name}-${version}.mcpb`);
writeFileSync(file, bundle);
console.log(file);
