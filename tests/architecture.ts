// Which file may import which, checked on the sources themselves:
// 1. `findViolations` takes every file with its text
// 2. each import is judged by the table of folders, then by the rules that the table cannot express
// 3. what a file says about processes and their environment is judged by its text
import { isBuiltin } from 'node:module';
import { blankComments } from './blank-comments.ts';
import { findImports, hasComputedImport, type Import } from './find-imports.ts';

/** An import or a word that stands where it must not. */
export interface Violation {
  readonly file: string;
  readonly found: string;
  readonly rule: string;
}

const shared = ['contract', 'support', 'settings'];

/** The folders that each folder may import from, beside itself. Folders that are not here do not exist. */
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
  worker: shared,
  clients: shared,
  engine: [...shared, 'sessions', 'policy', 'output', 'audit', 'monitor', 'recordings'],
  backends: [...shared, 'worker'],
  tools: [...shared, 'engine', 'output'],
  workflows: [...shared, 'tools'],
  doors: [...shared, 'engine', 'tools', 'audit', 'workflows', 'recordings', 'clients'],
};

/** Everything in the sources that the architecture does not allow. */
export function findViolations(files: ReadonlyMap<string, string>): Violation[] {
  return [...files].flatMap(([file, source]) => [
    ...findImports(file, source).flatMap((one) => judgeImport(file, one, files)),
    ...judgeText(file, source),
  ]);
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
  return 'a relative import names a source file below src that is no test';
}

const rules: readonly Rule[] = [
  function followTable(file, { target }) {
    const [from, to] = [folderOf(file), folderOf(target)];
    if (from === undefined || target === undefined || from === to) return undefined;
    const allowed = allowedFolders[from];
    if (allowed === undefined) return `the folder ${from} is not in the table`;
    if (to === undefined)
      return isJson(target) ? undefined : 'folders do not import the files that assemble them';
    return allowed.includes(to) ? undefined : `${from} may import ${['itself', ...allowed].join(', ')}`;
  },
  function separateSiblings(file, { target }) {
    const [from, to] = [implementationOf(file), implementationOf(target)];
    if (to === undefined || from === to || folderOf(file) !== folderOf(target) || isCatalog(file))
      return undefined;
    return `${folderOf(file)} do not import one another; only catalog.ts names them all`;
  },
  function keepCatalogsForAssembly(file, { target }) {
    if (!isCatalog(target) || assemblers.has(file)) return undefined;
    return `only ${[...assemblers].join(', ')} import catalogs`;
  },
  function assembleThroughCatalogs(file, { target }) {
    if (file !== 'src/assembly/main.ts' || implementationOf(target) === undefined) return undefined;
    return 'src/assembly/main.ts takes doors, tools and backends from their catalogs';
  },
  function useEngineAsType(file, { target, typeOnly }) {
    const outside = ['tools', 'doors'].includes(folderOf(file) ?? '');
    if (!outside || folderOf(target) !== 'engine' || typeOnly) return undefined;
    return 'tools and doors know only the types of the engine: import type';
  },
  function useToolsByDefinition(file, { target }) {
    if (folderOf(file) !== 'doors' || folderOf(target) !== 'tools') return undefined;
    return target?.startsWith('src/tools/common/')
      ? undefined
      : 'doors know only src/tools/common';
  },
  function gatherSettings(file, { target }) {
    if (file !== 'src/rules/all-settings.ts' || target === undefined) return undefined;
    const isSettings = folderOf(target) === 'settings' || target.endsWith('/settings.ts');
    return isSettings ? undefined : 'src/rules/all-settings.ts imports only settings';
  },
  function stayPure(file, { specifier }) {
    const pure = ['policy', 'contract', 'settings'].includes(folderOf(file) ?? '');
    return pure && isBuiltin(specifier) ? `${folderOf(file)} is pure and uses nothing of Node` : undefined;
  },
  function leaveProcessesToWorker(file, { specifier }) {
    if (!processModules.has(specifier.replace(/^node:/, '')) || folderOf(file) === 'worker') return undefined;
    return 'only src/worker starts processes';
  },
  function leaveThreadsToMatcher(file, { specifier }) {
    if (specifier.replace(/^node:/, '') !== 'worker_threads' || file === 'src/output/matcher.ts')
      return undefined;
    return 'only src/output/matcher.ts starts a thread, to stop patterns that never end';
  },
];

const processModules = new Set(['child_process', 'cluster', 'node-pty', '@lydell/node-pty']);
const assemblers = new Set([
  'src/assembly/main.ts',
  'src/assembly/assemble-tools.ts',
  'src/assembly/engine-on-demand.ts',
]);
const surveyors = new Set([
  'src/assembly/main.ts',
  'src/cli.ts',
  'src/exec-guard.ts',
  'src/assembly/create-nacre.ts',
]);

function judgeText(file: string, source: string): Violation[] {
  const computed = hasComputedImport(source)
    ? [{ file, found: 'import()', rule: 'an import names its file, so that this table can judge it' }]
    : [];
  if (surveyors.has(file)) return computed;
  const words = [...blankComments(source).matchAll(environmentWords)].map(([found]) => found);
  return [
    ...computed,
    ...words.map((found) => ({ file, found, rule: `only ${[...surveyors].join(', ')} read env and argv` })),
  ];
}

const environmentWords =
  /\bprocess\s*\??\.?\s*\[?\s*['"]?(?:env|argv|execArgv)\b|\{[^{}]*\b(?:env|argv)\b[^{}]*\}\s*(?:=\s*process\b(?!\.)|from\s*['"](?:node:)?process['"])/g;

/** The stage that a file belongs to; undefined for the files that lie directly in src, and outside of it. */
function folderOf(path: string | undefined): string | undefined {
  return /^src\/([^/]+)\//.exec(path ?? '')?.[1];
}

/** The door, tool family or backend that a file belongs to; undefined for what these share. */
function implementationOf(path: string | undefined): string | undefined {
  return /^src\/(?:doors|tools|backends)\/(?!common\/)[^/]+(?=\/)/.exec(path ?? '')?.[0];
}

function isCatalog(path: string | undefined): boolean {
  return /^src\/[^/]+\/catalog\.ts$/.test(path ?? '');
}

function isJson(path: string): boolean {
  return path.endsWith('.json');
}
