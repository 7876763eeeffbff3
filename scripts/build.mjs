// Builds dist/: the command line and what programs import as ES modules for Node, with what is needed later in chunks of their own.
// Start-up time is mostly the loading of code, so what nobody uses is left out.
import { execFileSync } from 'node:child_process';
import { chmodSync, copyFileSync, cpSync, rmSync, writeFileSync } from 'node:fs';
import { basename, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';
import { writeNotices } from './write-notices.mjs';
import { writeTypes } from './write-types.mjs';

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

/** `ws` is CommonJS, which would drag `require` into an ES module: it is a file of its own. */
const wsApart = {
  name: 'ws-apart',
  setup({ onResolve }) {
    onResolve({ filter: /^ws$/ }, () => ({ path: './ws.cjs', external: true }));
  },
};

const common = {
  absWorkingDir: root,
  outdir: 'dist',
  bundle: true,
  minify: true,
  platform: 'node',
  target: 'node20.19',
  legalComments: 'none',
  metafile: true,
};

// Whoever runs this from elsewhere must not lose a dist/ of their own.
process.chdir(root);
rmSync('dist', { recursive: true, force: true });
const parts = await build({
  ...common,
  entryPoints: { cli: 'src/cli.ts', index: 'src/index.ts', policy: 'src/policy/decide-command.ts' },
  splitting: true,
  format: 'esm',
  external: ['@lydell/node-pty'],
  alias: {
    // Its build for Node is CommonJS, too.
    yaml: './node_modules/yaml/browser/index.js',
    // The SDK's own would load a JSON Schema compiler at the start that no reply of ours goes through.
    '@modelcontextprotocol/server/_shims': './src/doors/mcp/sdk-shims.ts',
  },
  plugins: [englishOnly, wsApart],
});
const sockets = await build({
  ...common,
  entryPoints: { ws: 'node_modules/ws/wrapper.mjs' },
  outExtension: { '.js': '.cjs' },
  format: 'cjs',
  external: ['bufferutil', 'utf-8-validate'],
});
// One file without chunks, since it is started before every command's shell.
const guard = await build({
  ...common,
  entryPoints: { 'exec-guard': 'src/exec-guard.ts' },
  format: 'esm',
  external: ['koffi'],
});
cpSync('src/doors/http/pages', 'dist/pages', { recursive: true });
// The applets come ready to be served, with the terminal emulator that one of them shows.
cpSync('examples/applets', 'dist/applets', { recursive: true });
const terminal = 'node_modules/@xterm/xterm';
for (const file of ['lib/xterm.js', 'css/xterm.css'])
  copyFileSync(join(terminal, file), join('dist/applets/terminal', basename(file)));
chmodSync('dist/cli.js', 0o755);
// Nobody's settings have a say in it.
const nobody = { cwd: '/', env: { HOME: '/nonexistent' } };
writeFileSync('dist/nacre.1', execFileSync(process.execPath, [resolve('dist/cli.js'), 'man'], nobody));
writeTypes(['index.d.ts', 'policy/decide-command.d.ts']);
const bundled = [parts, sockets, guard].flatMap(({ metafile }) => Object.keys(metafile.inputs));
// The declarations contain zod's.
writeNotices([...bundled, `${terminal}/`, 'node_modules/zod/']);
