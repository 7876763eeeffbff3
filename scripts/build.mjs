// Builds dist/: the command line and what programs import as ES modules for Node, with what is needed later in chunks of their own.
// Start-up time is mostly the loading of code, so what nobody uses is left out.
import { execFileSync } from 'node:child_process';
import {
  chmodSync,
  copyFileSync,
  cpSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';

const root = fileURLToPath(new URL('..', import.meta.url));

/** zod brings its messages in some fifty languages; ours are in English. */
const englishOnly = {
  name: 'english-only',
  setup({ onLoad }) {
    onLoad({ filter: /zod\/v4\/locales\/index\.js$/ }, () => ({
      contents: "export { default as en } from './en.js';",
      resolveDir: join(root, 'node_modules/zod/v4/locales'),
    }));
  },
};

/** Writes the declarations of what programs import, and of all that these name. */
function writeTypes(entries) {
  const outDir = mkdtempSync(join(tmpdir(), 'nacre-types-'));
  const written = new Set();
  const write = (path) => {
    if (written.has(path)) return;
    written.add(path);
    const text = readFileSync(join(outDir, path), 'utf8');
    mkdirSync(join('dist/types', dirname(path)), { recursive: true });
    writeFileSync(join('dist/types', path), text.replace(/(['"]\.{1,2}\/[^'"]+)\.ts(?=['"])/g, '$1.js'));
    for (const [, name] of text.matchAll(/['"](\.{1,2}\/[^'"]+)\.ts['"]/g))
      write(`${join(dirname(path), name)}.d.ts`);
  };
  try {
    const args = ['-p', 'tsconfig.types.json', '--outDir', outDir];
    execFileSync('node_modules/.bin/tsc', args, { stdio: 'inherit' });
    for (const entry of entries) write(entry);
  } finally {
    rmSync(outDir, { recursive: true });
  }
}

// Whoever runs this from elsewhere must not lose a dist/ of their own.
process.chdir(root);
rmSync('dist', { recursive: true, force: true });
await build({
  absWorkingDir: root,
  entryPoints: { cli: 'src/cli.ts', index: 'src/index.ts', policy: 'src/policy/decide-command.ts' },
  outdir: 'dist',
  bundle: true,
  splitting: true,
  minify: true,
  platform: 'node',
  target: 'node20.19',
  format: 'esm',
  // The one is optional; the other is CommonJS, which would drag `require` into an ES module.
  external: ['@lydell/node-pty', 'ws'],
  alias: {
    // Its build for Node is CommonJS, too.
    yaml: './node_modules/yaml/browser/index.js',
    // The SDK's own would load a JSON Schema compiler at the start that no reply of ours goes through.
    '@modelcontextprotocol/server/_shims': './src/doors/mcp/sdk-shims.ts',
  },
  plugins: [englishOnly],
  legalComments: 'none',
});
// One file without chunks, since it is started before every command's shell.
await build({
  entryPoints: { 'exec-guard': 'src/exec-guard.ts' },
  outdir: 'dist',
  bundle: true,
  minify: true,
  platform: 'node',
  target: 'node20.19',
  format: 'esm',
  external: ['koffi'],
});
cpSync('src/doors/http/pages', 'dist/pages', { recursive: true });
// The applets come ready to be served, with the terminal emulator that one of them shows.
cpSync('examples/applets', 'dist/applets', { recursive: true });
for (const file of ['lib/xterm.js', 'css/xterm.css'])
  copyFileSync(`node_modules/@xterm/xterm/${file}`, join('dist/applets/terminal', basename(file)));
chmodSync('dist/cli.js', 0o755);
writeTypes(['index.d.ts', 'policy/decide-command.d.ts']);
