// Import cycles between files, and between the folders inside one top folder, such as src/worker/start and src/worker/limits:
// 1. every folder is a node, and so is every `catalog.ts`, which imports the folders next to it,
// 2. every import is an edge, unless it imports only types and its pair is listed in `typeCycles`,
// 3. a node that can reach itself is on a cycle.
import { posix } from 'node:path';
import { findImports } from './find-imports.ts';

/** Two folders that import types from each other: `from` imports only types of `to`. */
export interface TypeCycle {
  readonly from: string;
  readonly to: string;
}

/** Import cycles between inner folders, each as the folders on it. */
export function findFolderCycles(
  files: ReadonlyMap<string, string>,
  typeCycles: readonly TypeCycle[] = [],
): readonly (readonly string[])[] {
  return toCycles(toGraph(files, typeCycles));
}

/** Import cycles between files at run time, each as the files on it; imports of types do not count. */
export function findFileCycles(files: ReadonlyMap<string, string>): readonly (readonly string[])[] {
  const graph = new Map<string, Set<string>>();
  for (const [file, source] of files)
    for (const { target, typeOnly } of findImports(file, source))
      if (!typeOnly && target !== undefined) graph.set(file, (graph.get(file) ?? new Set()).add(target));
  return toCycles(graph);
}

type Graph = ReadonlyMap<string, ReadonlySet<string>>;

function toCycles(graph: Graph): readonly (readonly string[])[] {
  const groups = [...graph.keys()].map((node) => cycleThrough(node, graph));
  const distinct = new Map(
    groups.filter((group) => group.length > 0).map((group) => [group.join(' '), group]),
  );
  return [...distinct.values()];
}

function toGraph(files: ReadonlyMap<string, string>, typeCycles: readonly TypeCycle[]): Graph {
  const graph = new Map<string, Set<string>>();
  for (const [file, source] of files)
    for (const { target, typeOnly } of findImports(file, source)) {
      const [from, to] = [nodeOf(file), nodeOf(target ?? '')];
      const isListed = typeOnly && typeCycles.some((pair) => pair.from === from && pair.to === to);
      if (from === to || topOf(from) !== topOf(to) || isListed) continue;
      graph.set(from, (graph.get(from) ?? new Set()).add(to));
    }
  return graph;
}

function nodeOf(file: string): string {
  return posix.basename(file) === 'catalog.ts' ? file : posix.dirname(file);
}

function topOf(node: string): string | undefined {
  return /^src\/[^/]+(?=\/|$)/.exec(node)?.[0];
}

/** The nodes that reach `node` and that `node` reaches; empty if it is on no cycle. */
function cycleThrough(node: string, graph: Graph): readonly string[] {
  const ahead = reachableFrom(node, graph);
  if (!ahead.has(node)) return [];
  return [...ahead].filter((other) => reachableFrom(other, graph).has(node)).sort();
}

function reachableFrom(start: string, graph: Graph): ReadonlySet<string> {
  const seen = new Set<string>();
  const open = [...(graph.get(start) ?? [])];
  for (let node = open.pop(); node !== undefined; node = open.pop()) {
    if (seen.has(node)) continue;
    seen.add(node);
    open.push(...(graph.get(node) ?? []));
  }
  return seen;
}
