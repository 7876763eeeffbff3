// Builds dist/: the command line and the public modules as ES modules for Node, with lazily loaded code in separate chunks.
// Start-up time is mostly the time to load code, so unused code is left out.
import { execFileSync } from 'node:child_process';
import { chmodSync, copyFileSync, cpSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';
import { buildConsole } from './build-console.mjs';
import { writeNotices } from './write-notices.mjs';
import { writeTypes } from './write-types.mjs';

const root = fileURLToPath(new URL('..', import.meta.url));

/** Keeps only the English locale of zod, which ships about fifty. */
const englishOnly = {
  name: 'english-only',
  setup({ onLoad }) {
    onLoad({ filter: /zod\/v4\/locales\/index\.js$/ }, () => ({
      contents: "export { default as en } from './en.js';",
      resolveDir: join(root, 'node_modules/zod/v4/locales'),
    }));
  },
};

/** Bundles `ws` separately as `ws.cjs`: it is CommonJS, and bundling it would need `require` in an ES module. */
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

const forNode = {
  format: 'esm',
  external: ['@lydell/node-pty'],
  alias: {
    // The `yaml` build for Node is CommonJS as well.
    yaml: './node_modules/yaml/browser/index.js',
    // The SDK's own shim loads a JSON Schema compiler at start-up, which nacre does not use.
    '@modelcontextprotocol/server/_shims': './src/doors/mcp/sdk-shims.ts',
  },
  plugins: [englishOnly, wsApart],
};

/** Bundles and runs a script of this folder that uses the sources. */
async function runScript(name, argument) {
  const folder = mkdtempSync(join(tmpdir(), 'nacre-build-'));
  const outfile = join(folder, `${name}.mjs`);
  await build({ ...common, ...forNode, outdir: undefined, outfile, entryPoints: [`scripts/${name}.ts`] });
  execFileSync(process.execPath, [outfile, argument], { stdio: 'inherit' });
  rmSync(folder, { recursive: true });
}

// Run from another directory, this script must not delete a `dist` there.
process.chdir(root);
rmSync('dist', { recursive: true, force: true });
// A bundle of its own, because V8's code cache needs one file; see `src/support/cached-code.ts`.
const greeter = await build({
  ...common,
  ...forNode,
  entryPoints: { greeter: 'src/assembly/greet-first.ts' },
  entryNames: '[name]-[hash]',
  outExtension: { '.js': '.cjs' },
  format: 'cjs',
  define: { 'import.meta.url': 'ownUrl' },
  banner: { js: "const ownUrl=require('node:url').pathToFileURL(__filename).href;" },
});
const [greeterFile = ''] = Object.keys(greeter.metafile.outputs).map((path) => basename(path));
const parts = await build({
  ...common,
  ...forNode,
  define: { greeterFile: JSON.stringify(`./${greeterFile}`) },
  entryPoints: { cli: 'src/cli.ts', index: 'src/index.ts', policy: 'src/policy/decide-command.ts' },
  splitting: true,
});
const sockets = await build({
  ...common,
  entryPoints: { ws: 'node_modules/ws/wrapper.mjs' },
  outExtension: { '.js': '.cjs' },
  format: 'cjs',
  external: ['bufferutil', 'utf-8-validate'],
});
// `exec-guard.js` starts before a command's shell where there is no perl for `exec-guard.pl`, so it is one file without chunks.
const guard = await build({
  ...common,
  entryPoints: { 'exec-guard': 'src/exec-guard.ts' },
  format: 'esm',
  external: ['koffi'],
});
// The detached worker keeps running while an update replaces dist/, so it is one file without chunks.
const worker = await build({
  ...common,
  entryPoints: { worker: 'src/worker-program.ts' },
  format: 'esm',
  external: ['@lydell/node-pty'],
});
copyFileSync('src/worker/guard/exec-guard.pl', 'dist/exec-guard.pl');
copyFileSync('src/worker/road/loader.cjs', 'dist/loader.cjs');
const consoles = await buildConsole();
cpSync('src/doors/http/pages', 'dist/pages', { recursive: true });
cpSync('src/doors/http/applet-template', 'dist/applet-template', { recursive: true });
// The applets in `dist/applets` are ready to be served; the terminal applet needs xterm.js.
cpSync('examples/applets', 'dist/applets', { recursive: true });
const terminal = 'node_modules/@xterm/xterm';
for (const file of ['lib/xterm.js', 'css/xterm.css'])
  copyFileSync(join(terminal, file), join('dist/applets/terminal', basename(file)));
chmodSync('dist/cli.js', 0o755);
await runScript('listed-tools', resolve('dist'));
await runScript('save-code', resolve('dist', greeterFile));
// The man page must not depend on settings of the user who builds it.
const withoutSettings = { cwd: '/', env: { HOME: '/nonexistent' } };
writeFileSync(
  'dist/nacre.1',
  execFileSync(process.execPath, [resolve('dist/cli.js'), 'man'], withoutSettings),
);
writeTypes(['index.d.ts', 'policy/decide-command.d.ts']);
const inputs = [parts, greeter, sockets, guard, worker, ...consoles];
const bundled = inputs.flatMap(({ metafile }) => Object.keys(metafile.inputs));
// `writeTypes` copies zod's declarations.
writeNotices([...bundled, `${terminal}/`, 'node_modules/zod/']);
