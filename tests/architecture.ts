// Which file may import which, checked on the sources themselves:
// 1. `findViolations` receives every source file with its text,
// 2. each import is checked against the folder table, then against the rules that the table cannot express,
// 3. each file's text is checked for reads of `process.env` and `process.argv`.
// `inner-folders.ts`, `exported-names.ts` and `function-lengths.ts` check the rest of the structure.
import { isBuiltin } from 'node:module';
import { blankComments } from './blank-comments.ts';
import { findImports, hasComputedImport, type Import } from './find-imports.ts';

/** An import, a text or a file that breaks a rule. */
export interface Violation {
  readonly file: string;
  readonly found: string;
  readonly rule: string;
}

const shared = ['contract', 'support', 'settings'];

/** The folders that each folder may import from, besides itself. A folder that is not listed may not exist. */
export const allowedFolders: Readonly<Record<string, readonly string[]>> = {
  contract: [],
  support: ['contract'],
  settings: ['contract', 'support'],
  policy: shared,
  output: shared,
  sessions: shared,
  audit: shared,
  monitor: [...shared, 'audit'],
  recordings: shared,
  wire: shared,
  worker: [...shared, 'wire'],
  clients: shared,
  backends: [...shared, 'wire', 'worker', 'audit', 'recordings'],
  machines: [...shared, 'policy', 'backends'],
  engine: [...shared, 'sessions', 'policy', 'output', 'audit', 'monitor', 'recordings'],
  servers: [...shared, 'engine'],
  tools: [...shared, 'engine', 'output'],
  workflows: [...shared, 'tools'],
  doors: [...shared, 'engine', 'tools', 'audit', 'workflows', 'recordings', 'clients', 'monitor', 'servers'],
  // Runs in a browser: it knows the types that it shares with the server, and nothing else.
  console: ['contract'],
  // Of every folder but `policy`, `rules` imports only `settings.ts` and types; see `readOnlySettings`.
  rules: [
    ...shared,
    ...[
      'policy',
      'output',
      'sessions',
      'audit',
      'monitor',
      'recordings',
      'worker',
      'machines',
      'engine',
      'tools',
      'doors',
    ],
  ],
  assembly: [
    ...shared,
    ...['policy', 'output', 'sessions', 'audit', 'monitor', 'recordings', 'worker', 'backends', 'engine'],
    ...['machines', 'tools', 'servers', 'workflows', 'doors', 'rules'],
  ],
};

/** Every violation in the sources. */
export function findViolations(files: ReadonlyMap<string, string>): Violation[] {
  return [...files].flatMap(([file, source]) => [
    ...judgePlace(file),
    ...findImports(file, source).flatMap((one) => judgeImport(file, one, files)),
    ...judgeText(file, source),
  ]);
}

/** The files that may lie directly in src: the public API, the command line, and two more bundles. */
const topFiles = ['src/index.ts', 'src/cli.ts', 'src/exec-guard.ts', 'src/worker-program.ts'];

function judgePlace(file: string): Violation[] {
  if (folderOf(file) !== undefined || topFiles.includes(file)) return [];
  return [{ file, found: file, rule: `only ${topFiles.join(', ')} lie directly in src` }];
}

type Rule = (file: string, one: Import) => string | undefined;

function judgeImport(file: string, one: Import, files: ReadonlyMap<string, string>): Violation[] {
  const missing = refuseMissing(one, files);
  const broken = missing === undefined ? rules.map((rule) => rule(file, one)) : [missing];
  return broken.flatMap((rule) => (rule === undefined ? [] : [{ file, found: one.specifier, rule }]));
}

function refuseMissing(
  { specifier, target }: Import,
  files: ReadonlyMap<string, string>,
): string | undefined {
  if (/^[#/]/.test(specifier)) return 'files are imported by relative path';
  if (target === undefined || target.endsWith('.json') || files.has(target)) return undefined;
  return 'a relative import names a source file below src that is not a test';
}

const rules: readonly Rule[] = [
  function followTable(file, { target }) {
    const [from, to] = [folderOf(file), folderOf(target)];
    if (from === undefined || target === undefined || from === to) return undefined;
    const allowed = allowedFolders[from];
    if (allowed === undefined) return `the folder ${from} is not in the table`;
    if (to === undefined) return isJson(target) ? undefined : 'folders do not import files directly in src';
    return allowed.includes(to) ? undefined : `${from} may import ${['itself', ...allowed].join(', ')}`;
  },
  function startFromEntryPoints(file, { target }) {
    if (folderOf(file) !== undefined || folderOf(target) !== 'assembly' || entryPoints.has(file))
      return undefined;
    return `only ${[...entryPoints].join(', ')} import src/assembly`;
  },
  function separateSiblings(file, { target }) {
    const [from, to] = [implementationOf(file), implementationOf(target)];
    if (to === undefined || from === to || folderOf(file) !== folderOf(target) || isCatalog(file))
      return undefined;
    return `${folderOf(file)} do not import one another; only catalog.ts names them all`;
  },
  function keepCatalogsForAssembly(file, { target }) {
    if (!isCatalog(target) || folderOf(file) === 'assembly') return undefined;
    return 'only src/assembly imports catalogs';
  },
  function assembleThroughCatalogs(file, { target }) {
    if (file !== 'src/assembly/main.ts' || implementationOf(target) === undefined) return undefined;
    return 'src/assembly/main.ts gets doors, tools and backends from their catalogs';
  },
  function useEngineAsType(file, { target, typeOnly }) {
    const outside = ['tools', 'doors'].includes(folderOf(file) ?? '');
    if (!outside || folderOf(target) !== 'engine' || typeOnly) return undefined;
    return 'tools and doors import only types from the engine: import type';
  },
  function useToolsByDefinition(file, { target }) {
    if (folderOf(file) !== 'doors' || folderOf(target) !== 'tools') return undefined;
    return target?.startsWith('src/tools/common/') ? undefined : 'doors import only src/tools/common';
  },
  function readOnlySettings(file, { target, typeOnly }) {
    const to = folderOf(target);
    if (folderOf(file) !== 'rules' || to === undefined || typeOnly) return undefined;
    if (['rules', 'policy', ...shared].includes(to) || target?.endsWith('/settings.ts')) return undefined;
    return 'rules imports only settings.ts and types from other folders';
  },
  function gatherSettings(file, { target }) {
    if (file !== 'src/rules/all-settings.ts' || target === undefined) return undefined;
    const isSettings = folderOf(target) === 'settings' || target.endsWith('/settings.ts');
    return isSettings ? undefined : 'src/rules/all-settings.ts imports only settings';
  },
  function stayPure(file, { specifier }) {
    const pure = ['policy', 'contract', 'settings'].includes(folderOf(file) ?? '');
    return pure && isBuiltin(specifier)
      ? `${folderOf(file)} is pure and imports nothing from Node`
      : undefined;
  },
  function leaveProcessesToWorker(file, { specifier }) {
    if (!processModules.has(specifier.replace(/^node:/, '')) || folderOf(file) === 'worker') return undefined;
    return 'only src/worker starts processes';
  },
  function leaveThreadsToFew(file, { specifier }) {
    if (specifier.replace(/^node:/, '') !== 'worker_threads' || threadStarters.has(file)) return undefined;
    return `no file but ${[...threadStarters].join(' and ')} starts a thread`;
  },
];

const threadStarters = new Set(['src/output/matcher.ts', 'src/worker/io/digest-thread.ts']);
const processModules = new Set(['child_process', 'cluster', 'node-pty', '@lydell/node-pty']);
const entryPoints = new Set(['src/cli.ts', 'src/index.ts']);
const environmentReaders = new Set([
  ...['src/cli.ts', 'src/exec-guard.ts', 'src/worker-program.ts', 'src/assembly/create-nacre.ts'],
]);

function judgeText(file: string, source: string): Violation[] {
  const computed = hasComputedImport(source)
    ? [{ file, found: 'import()', rule: 'an import names its file, so that this table can check it' }]
    : [];
  if (environmentReaders.has(file)) return computed;
  const reads = [...blankComments(source).matchAll(environmentRead)].map(([found]) => found);
  const rule = `only ${[...environmentReaders].join(', ')} read env and argv`;
  return [...computed, ...reads.map((found) => ({ file, found, rule }))];
}

const environmentRead =
  /\bprocess\s*\??\.?\s*\[?\s*['"]?(?:env|argv|execArgv)\b|\{[^{}]*\b(?:env|argv)\b[^{}]*\}\s*(?:=\s*process\b(?!\.)|from\s*['"](?:node:)?process['"])/g;

/** The top folder of a file; undefined for files directly in src and outside of it. */
function folderOf(path: string | undefined): string | undefined {
  return /^src\/([^/]+)\//.exec(path ?? '')?.[1];
}

/** The door, tool family or backend that a file belongs to; undefined for files that these share. */
function implementationOf(path: string | undefined): string | undefined {
  const found = /^src\/(?:doors|tools|backends)\/[^/]+(?=\/)/.exec(path ?? '')?.[0];
  return found === 'src/tools/common' || found === 'src/backends/layers' ? undefined : found;
}

function isCatalog(path: string | undefined): boolean {
  return /^src\/[^/]+\/catalog\.ts$/.test(path ?? '');
}

function isJson(path: string): boolean {
  return path.endsWith('.json');
}
