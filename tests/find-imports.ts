import { posix } from 'node:path';
import { blankComments } from './blank-comments.ts';

/** An import of a source file. */
export interface Import {
  /** As written: `./mcp/serve.ts`, `node:fs`, `zod`. */
  readonly specifier: string;
  /** The imported file, from the project's root, if the import is relative. */
  readonly target: string | undefined;
  readonly typeOnly: boolean;
}

/** Every `import … from`, `export … from`, bare `import '…'` and `import('…')` of a file. */
export function findImports(path: string, source: string): Import[] {
  const code = blankComments(source);
  const found = [
    ...[...code.matchAll(statement)].map(([, typeOnly, , specifier]) => ({
      specifier,
      typeOnly: Boolean(typeOnly),
    })),
    ...[...code.matchAll(dynamic)].map(([, , specifier]) => ({ specifier, typeOnly: false })),
  ];
  return found.map(({ specifier = '', typeOnly }) => ({
    specifier,
    typeOnly,
    target: toTarget(path, specifier),
  }));
}

/** Whether a file has an `import(…)` whose specifier is not a literal, which cannot be checked. */
export function hasComputedImport(source: string): boolean {
  return /(?<![,'"\w$.])import\s*\(\s*(?!['"])/.test(blankComments(source));
}

const statement =
  /(?:^|;)\s*(?:import|export)\b\s*(type\b\s*)?(?:[\w$*{}\s,]+?\s*\bfrom\s*)?(['"])([^'"\n]+)\2/gm;
// `import` directly after a comma is inside a text, because formatted code has a blank there.
const dynamic = /(?<![,'"\w$.])import\s*\(\s*(['"])([^'"\n]+)\1/g;

function toTarget(path: string, specifier: string): string | undefined {
  return specifier.startsWith('.') ? posix.join(posix.dirname(path), specifier) : undefined;
}
