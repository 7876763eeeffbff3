import { execFileSync } from 'node:child_process';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { allowedFolders, findViolations } from './architecture.ts';
import { findImports } from './find-imports.ts';

const root = fileURLToPath(new URL('..', import.meta.url));
const isSource = (path: string) => path.endsWith('.ts') && !path.endsWith('.test.ts');
const sources = new Map(
  readdirSync(`${root}src`, { recursive: true, encoding: 'utf8' })
    .map((path) => `src/${path}`)
    .filter(isSource)
    .map((path) => [path, readFileSync(root + path, 'utf8')]),
);

describe('the sources', () => {
  it('import inward only', () => {
    expect(findViolations(sources)).toEqual([]);
  });

  it('are all seen, and so are their imports', () => {
    const tracked = execFileSync('git', ['ls-files', 'src'], { cwd: root, encoding: 'utf8' }).split('\n');
    const missed = tracked.filter((path) => isSource(path) && existsSync(root + path) && !sources.has(path));
    expect(missed).toEqual([]);
    expect(sources.size).toBeGreaterThan(20);
    const imports = [...sources].flatMap(([path, source]) => findImports(path, source));
    expect(imports.length).toBeGreaterThan(sources.size);
  });
});

describe('the table of folders', () => {
  it('names only folders that it knows, and leads in no circle', () => {
    const settled = new Set<string>();
    for (const [folder, allowed] of Object.entries(allowedFolders)) {
      expect(
        allowed.filter((name) => !settled.has(name)),
        folder,
      ).toEqual([]);
      settled.add(folder);
    }
  });
});

/** The rules that one file breaks when it holds these lines, with every file that they name present. */
function rulesBroken(file: string, ...lines: string[]): string[] {
  const source = lines.join('\n');
  const named = findImports(file, source).flatMap(({ target }) =>
    target?.startsWith('src/') ? [target] : [],
  );
  const files = new Map([...named.map((path) => [path, ''] as const), [file, source]]);
  return findViolations(files).map(({ rule }) => rule);
}

describe('a forbidden import is caught', () => {
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
    ['src/doors/mcp/x.ts', "import { a } from '../cli/a.ts';", 'doors do not import one another'],
    ['src/doors/reply.ts', "import { a } from './cli/a.ts';", 'doors do not import one another'],
    ['src/tools/bash/x.ts', "import { a } from '../terminal/a.ts';", 'tools do not import one another'],
    ['src/backends/ssh/x.ts', "import { a } from '../local/a.ts';", 'backends do not import one another'],
    [
      'src/doors/mcp/x.ts',
      "import { a } from '../../tools/terminal/a.ts';",
      'doors know only src/tools/common',
    ],
    [
      'src/doors/mcp/x.ts',
      "import { a } from '../../tools/settings.ts';",
      'doors know only src/tools/common',
    ],
    ['src/doors/mcp/x.ts', "import { a } from '../../engine/a.ts';", 'import type'],
    ['src/tools/bash/x.ts', "import { a } from '../../engine/a.ts';", 'import type'],
    ['src/doors/mcp/x.ts', "import { a } from '../catalog.ts';", 'import catalogs'],
    ['src/index.ts', "import { a } from './doors/catalog.ts';", 'import catalogs'],
    ['src/assembly/main.ts', "import { a } from './doors/mcp/a.ts';", 'from their catalogs'],
    ['src/rules/all-settings.ts', "import { a } from './worker/run.ts';", 'imports only settings'],
    ['src/engine/x.ts', "import { a } from '../main.ts';", 'files that assemble them'],
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
  ])('%s: %s', (file, line, rule) => {
    expect(rulesBroken(file, "import { z } from 'zod';", line)).toEqual([expect.stringContaining(rule)]);
  });

  it('also when the file it names is a test or does not exist', () => {
    const files = new Map([['src/engine/x.ts', "import './run.test.ts';\nimport './gone.ts';\n"]]);
    expect(findViolations(files).map(({ found }) => found)).toEqual(['./run.test.ts', './gone.ts']);
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
    ['src/worker/x.ts', '// unlike process.env, the environment is handed in'],
    ['src/worker/x.ts', 'const { env } = process.report;'],
    ['src/worker/x.ts', 'const pid = process.pid; const { env } = spec;'],
    ['src/backends/local/x.ts', "import { a } from '../../worker/a.ts';"],
    ['src/tools/bash/x.ts', "import type { Engine } from '../../engine/engine.ts';"],
    ['src/tools/bash/x.ts', "import { a } from '../common/define-tool.ts';"],
    ['src/doors/mcp/x.ts', "import { a } from '../../tools/common/define-tool.ts';"],
    ['src/doors/catalog.ts', "export const doors = { mcp: () => import('./mcp/serve.ts') };"],
    ['src/assembly/main.ts', "import { doors } from './doors/catalog.ts';\nconst { env } = process;"],
    ['src/cli.ts', "import { main } from './main.ts';\nmain(process.argv);"],
    ['src/index.ts', "export { ShellManager } from './tools/bash/shell-manager.ts';"],
    ['src/rules/all-settings.ts', "import { a } from './worker/settings.ts';"],
    ['src/doors/mcp/x.ts', "import about from '../../../package.json' with { type: 'json' };"],
  ])('%s: %s', (file, line) => {
    expect(rulesBroken(file, line)).toEqual([]);
  });
});
