// Writes the type declarations of the public modules to dist/types, with all declarations that they import, including zod's,
// so that users of nacre need no other package for its types.
import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join, relative } from 'node:path';

const types = 'dist/types';
const vendored = { zod: 'zod/index.d.ts', 'zod/v4/core': 'zod/v4/core/index.d.ts' };
const named = /(['"])((?:\.{1,2}\/|zod)[^'"\s]*)\1/g;

/** Compiles all declarations with tsc and copies those that `entries` import to `dist/types`. */
export function writeTypes(entries) {
  const own = mkdtempSync(join(tmpdir(), 'nacre-types-'));
  try {
    const args = ['-p', 'tsconfig.types.json', '--outDir', own];
    execFileSync('node_modules/.bin/tsc', args, { stdio: 'inherit' });
    const written = new Set();
    for (const entry of entries) write(entry, own, written);
  } finally {
    rmSync(own, { recursive: true });
  }
}

function write(path, own, written) {
  if (written.has(path)) return;
  written.add(path);
  const text = readFileSync(join(path.startsWith('zod/') ? 'node_modules' : own, path), 'utf8');
  const reached = [];
  const rewritten = text.replace(named, (whole, quote, name) => {
    const target = toFile(name, path);
    if (target === undefined) return whole;
    reached.push(target);
    const from = relative(dirname(path), target).replace(/\.d\.ts$/, '.js');
    return `${quote}${from.startsWith('.') ? from : `./${from}`}${quote}`;
  });
  mkdirSync(join(types, dirname(path)), { recursive: true });
  writeFileSync(join(types, path), rewritten);
  for (const one of reached) write(one, own, written);
}

function toFile(name, from) {
  if (!name.startsWith('.')) return vendored[name];
  return join(dirname(from), name).replace(/\.(?:ts|js)$/, '.d.ts');
}
