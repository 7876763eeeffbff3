import { execFileSync } from 'node:child_process';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { allowedFolders, findViolations } from './architecture.ts';
import { findSharedNames } from './exported-names.ts';
import { findImports } from './find-imports.ts';
import { measureFunctions } from './function-lengths.ts';
import { findFileCycles, findFolderCycles } from './inner-folders.ts';
import { isInstalled } from './support/program-needs.ts';

const root = fileURLToPath(new URL('..', import.meta.url));
const isSource = (path: string) => path.endsWith('.ts') && !path.endsWith('.test.ts');
const sources = readSources(isSource);
// The parts of the console's page.
const components = readSources((path) => path.endsWith('.tsx'));
const longestFunction = 80;

describe('the sources', () => {
  it('import inward only', () => {
    expect(findViolations(sources)).toEqual([]);
  });

  it('are all checked, with their imports', (context) => {
    context.skip(!isInstalled('git') || !existsSync(`${root}.git`), 'git or its repository is missing');
    const tracked = execFileSync('git', ['ls-files', 'src'], { cwd: root, encoding: 'utf8' }).split('\n');
    const missed = tracked.filter((path) => isSource(path) && existsSync(root + path) && !sources.has(path));
    expect(missed).toEqual([]);
    expect(sources.size).toBeGreaterThan(20);
    const imports = [...sources].flatMap(([path, source]) => findImports(path, source));
    expect(imports.length).toBeGreaterThan(sources.size);
  });

  it('have no import cycle between inner folders, type imports included', () => {
    expect(findFolderCycles(sources)).toEqual([]);
  });

  it('have no import cycle between files at run time', () => {
    expect(findFileCycles(sources)).toEqual([]);
  });

  it('export no name from two files', () => {
    expect(Object.fromEntries(findSharedNames(sources))).toEqual({});
  });

  it(`have no function of more than ${longestFunction} lines`, () => {
    const long = [...sources, ...components].flatMap(([path, source]) =>
      measureFunctions(source)
        .filter(({ lines }) => lines > longestFunction)
        .map(({ name, line, lines }) => `${path}:${line} ${name}: ${lines} lines`),
    );
    expect(long).toEqual([]);
  });
});

describe('the folder table', () => {
  it('lists each folder after the folders it may import, so that it has no cycle', () => {
    const listed = new Set<string>();
    for (const [folder, allowed] of Object.entries(allowedFolders)) {
      expect(
        allowed.filter((name) => !listed.has(name)),
        folder,
      ).toEqual([]);
      listed.add(folder);
    }
  });
});

function readSources(isIncluded: (path: string) => boolean): ReadonlyMap<string, string> {
  return new Map(
    readdirSync(`${root}src`, { recursive: true, encoding: 'utf8' })
      .map((path) => `src/${path}`)
      .filter(isIncluded)
      .map((path) => [path, readFileSync(root + path, 'utf8')]),
  );
}

/** The rules that a file with these lines breaks; every file that it imports exists. */
function rulesBroken(file: string, ...lines: string[]): string[] {
  const source = lines.join('\n');
  const named = findImports(file, source).flatMap(({ target }) =>
    target?.startsWith('src/') ? [target] : [],
  );
  const files = new Map([
    ...named.filter((path) => /^src\/[^/]+\//.test(path)).map((path) => [path, ''] as const),
    [file, source],
  ]);
  return findViolations(files).map(({ rule }) => rule);
}

describe('a forbidden import is found', () => {
  it.each([
    ['src/contract/x.ts', "import { a } from '../support/a.ts';", 'contract may import itself'],
    ['src/policy/x.ts', "import { a } from '../engine/a.ts';", 'policy may import'],
    ['src/output/x.ts', "import type { A } from '../sessions/a.ts';", 'output may import'],
    ['src/worker/x.ts', "import { a } from '../engine/a.ts';", 'worker may import'],
    ['src/worker/x.ts', "import { a } from '../policy/a.ts';", 'worker may import'],
    ['src/worker/x.ts', "import { a } from '../tools/a.ts';", 'worker may import'],
    ['src/worker/x.ts', "import { a } from '../doors/a.ts';", 'worker may import'],
    ['src/worker/x.ts', "import { a } from '../output/a.ts';", 'worker may import'],
    ['src/engine/x.ts', "import { a } from '../worker/a.ts';", 'engine may import'],
    ['src/engine/x.ts', "import { a } from '../backends/a.ts';", 'engine may import'],
    ['src/backends/local/x.ts', "import { a } from '../../engine/a.ts';", 'backends may import'],
    ['src/tools/bash/x.ts', "export { a } from '../../worker/a.ts';", 'tools may import'],
    ['src/doors/mcp/x.ts', "await import('../../policy/a.ts');", 'doors may import'],
    ['src/doors/mcp/x.ts', "import type { A } from '../../rules/a.ts';", 'doors may import'],
    ['src/rules/x.ts', "import type { A } from '../assembly/a.ts';", 'rules may import'],
    ['src/engine/x.ts', "import { a } from '../assembly/a.ts';", 'engine may import'],
    ['src/exec-guard.ts', "import { a } from './assembly/a.ts';", 'import src/assembly'],
    ['src/rules/x.ts', "import { a } from '../worker/worker.ts';", 'only settings.ts and types'],
    ['src/doors/mcp/x.ts', "import { a } from '../cli/a.ts';", 'doors do not import one another'],
    ['src/doors/reply.ts', "import { a } from './cli/a.ts';", 'doors do not import one another'],
    ['src/tools/bash/x.ts', "import { a } from '../terminal/a.ts';", 'tools do not import one another'],
    ['src/backends/ssh/x.ts', "import { a } from '../local/a.ts';", 'backends do not import one another'],
    ['src/doors/mcp/x.ts', "import { a } from '../../tools/terminal/a.ts';", 'only src/tools/common'],
    ['src/doors/mcp/x.ts', "import { a } from '../../tools/settings.ts';", 'only src/tools/common'],
    ['src/doors/mcp/x.ts', "import { a } from '../../engine/a.ts';", 'import type'],
    ['src/tools/bash/x.ts', "import { a } from '../../engine/a.ts';", 'import type'],
    ['src/doors/mcp/x.ts', "import { a } from '../catalog.ts';", 'imports catalogs'],
    ['src/index.ts', "import { a } from './doors/catalog.ts';", 'imports catalogs'],
    ['src/assembly/main.ts', "import { a } from '../doors/mcp/a.ts';", 'from their catalogs'],
    ['src/rules/all-settings.ts', "import { a } from './rules-for.ts';", 'imports only settings'],
    ['src/plugins/x.ts', "import { a } from '../contract/a.ts';", 'plugins is not in the table'],
    ['src/policy/x.ts', "import { a } from 'node:fs';", 'pure'],
    ['src/contract/x.ts', "import { a } from 'path';", 'pure'],
    ['src/settings/x.ts', "import type { A } from 'node:os';", 'pure'],
    ['src/engine/x.ts', "import { spawn } from 'node:child_process';", 'starts processes'],
    ['src/output/x.ts', "import { Worker } from 'node:worker_threads';", 'starts a thread'],
    ['src/assembly/main.ts', "import { exec } from 'child_process';", 'starts processes'],
    ['src/backends/local/x.ts', "await import('@lydell/node-pty');", 'starts processes'],
    ['src/engine/x.ts', "import { a } from '../../tests/a.ts';", 'below src'],
    ['src/engine/x.ts', "import { a } from '#policy';", 'relative path'],
    ['src/engine/x.ts', 'await import(name);', 'names its file'],
    ['src/worker/x.ts', 'spawn(a, { env: process.env });', 'env and argv'],
    ['src/worker/x.ts', "const home = process['env'].HOME;", 'env and argv'],
    ['src/doors/cli/x.ts', 'const args = process.argv.slice(2);', 'env and argv'],
    ['src/doors/cli/x.ts', 'const { env } = process;', 'env and argv'],
    ['src/doors/cli/x.ts', "import { argv } from 'node:process';", 'env and argv'],
    ['src/helpers.ts', '', 'lie directly in src'],
  ])('%s: %s', (file, line, rule) => {
    expect(rulesBroken(file, "import { z } from 'zod';", line)).toEqual([expect.stringContaining(rule)]);
  });

  it('also when it names a test, a missing file or a file directly in src', () => {
    const lines = "import './run.test.ts';\nimport './gone.ts';\nimport '../cli.ts';\n";
    const files = new Map([
      ['src/engine/x.ts', lines],
      ['src/cli.ts', ''],
    ]);
    expect(findViolations(files).map(({ found }) => found)).toEqual([
      './run.test.ts',
      './gone.ts',
      '../cli.ts',
    ]);
  });
});

describe('an import that points inward passes', () => {
  it.each([
    ['src/engine/x.ts', "import { a } from '../policy/a.ts';"],
    ['src/engine/x.ts', "import { a } from '../sessions/a.ts';"],
    ['src/engine/x.ts', "import { a } from './steps/a.ts';"],
    ['src/policy/x.ts', "import { a } from '../contract/a.ts';"],
    ['src/worker/x.ts', "import { spawn } from 'node:child_process';"],
    ['src/worker/x.ts', "import { a } from '../support/a.ts';"],
    ['src/worker/x.ts', '// unlike process.env, the environment is passed in'],
    ['src/worker/x.ts', 'const { env } = process.report;'],
    ['src/worker/x.ts', 'const pid = process.pid; const { env } = spec;'],
    ['src/backends/local/x.ts', "import { a } from '../../worker/a.ts';"],
    ['src/backends/local/x.ts', "import { a } from '../layers/a.ts';"],
    ['src/tools/bash/x.ts', "import type { Engine } from '../../engine/engine.ts';"],
    ['src/tools/bash/x.ts', "import { a } from '../common/define-tool.ts';"],
    ['src/doors/mcp/x.ts', "import { a } from '../../tools/common/tool.ts';"],
    ['src/doors/catalog.ts', "export const doors = { mcp: () => import('./mcp/serve.ts') };"],
    ['src/assembly/main.ts', "import { doors } from '../doors/catalog.ts';"],
    ['src/cli.ts', "import { main } from './assembly/main.ts';\nmain(process.argv);"],
    ['src/index.ts', "export { ShellManager } from './tools/bash/shell-manager.ts';"],
    ['src/rules/all-settings.ts', "import { a } from '../worker/settings.ts';"],
    ['src/rules/x.ts', "import type { RunContext } from '../engine/run.ts';"],
    ['src/doors/mcp/x.ts', "import about from '../../../package.json' with { type: 'json' };"],
  ])('%s: %s', (file, line) => {
    expect(rulesBroken(file, line)).toEqual([]);
  });
});

describe('a cycle between inner folders', () => {
  const cycles = (imports: Readonly<Record<string, string>>, kind = 'import') =>
    findFolderCycles(
      new Map(Object.entries(imports).map(([file, target]) => [file, `${kind} { a } from '${target}';`])),
    );

  it('is found between two folders, and around three', () => {
    expect(cycles({ 'src/a/b/x.ts': '../c/y.ts', 'src/a/c/y.ts': '../b/z.ts' })).toEqual([
      ['src/a/b', 'src/a/c'],
    ]);
    const three = { 'src/a/b/x.ts': '../c/y.ts', 'src/a/c/y.ts': '../x.ts', 'src/a/x.ts': './b/x.ts' };
    expect(cycles(three)).toEqual([['src/a', 'src/a/b', 'src/a/c']]);
  });

  it('is found where the imports are types, unless the pair is listed', () => {
    const files = new Map([
      ['src/a/b/x.ts', "import type { A } from '../c/y.ts';"],
      ['src/a/c/y.ts', "import { a } from '../b/z.ts';"],
    ]);
    expect(findFolderCycles(files)).toHaveLength(1);
    expect(findFolderCycles(files, [{ from: 'src/a/b', to: 'src/a/c' }])).toEqual([]);
    expect(findFolderCycles(files, [{ from: 'src/a/c', to: 'src/a/b' }])).toHaveLength(1);
  });

  it('does not include a catalog, or imports of another top folder', () => {
    expect(cycles({ 'src/a/catalog.ts': './b/x.ts', 'src/a/b/x.ts': '../y.ts' })).toEqual([]);
    expect(cycles({ 'src/a/b/x.ts': '../../c/d/y.ts', 'src/c/d/y.ts': '../../a/b/x.ts' })).toEqual([]);
  });
});

describe('findSharedNames', () => {
  it('names what two files declare, and neither re-exports nor comments', () => {
    const files = new Map([
      ['src/a.ts', 'export const one = 1;\nexport async function two() {}\nexport type Three = 3;'],
      ['src/b.ts', 'export interface Three {}\nexport function two(): void;\nexport function two() {}'],
      ['src/c.ts', "export { one } from './a.ts';\n// export const one = 2;\nexport const four = 4;"],
    ]);
    expect([...findSharedNames(files).keys()]).toEqual(['two', 'Three']);
  });
});

describe('measureFunctions', () => {
  const measured = (...lines: string[]) =>
    measureFunctions(lines.join('\n')).map(({ name, line, lines: length }) => `${name} ${line} ${length}`);

  it('counts from the first line of the signature to the closing brace', () => {
    expect(
      measured('export async function long(', '  a: string,', '): Promise<void> {', '  await a;', '}'),
    ).toEqual(['long 1 5']);
    expect(measured('const f = (a: number) => {', '  return a;', '};')).toEqual(['f 1 3']);
    expect(measured('class A {', '  get b(): string {', '    return `', '}`;', '  }', '}')).toEqual([
      'b 2 4',
    ]);
  });

  it('does not count control statements and types', () => {
    expect(measured('if (a) {', '  b();', '} else if (', '  c', ') {', '  d();', '}')).toEqual([]);
    expect(measured('export interface A extends B {', '  c(): void;', '}')).toEqual([]);
  });
});
