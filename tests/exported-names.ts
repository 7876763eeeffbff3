import { blankComments } from './blank-comments.ts';

/** Names that two or more files export, with these files; re-exports (`export … from`) do not count. */
export function findSharedNames(files: ReadonlyMap<string, string>): ReadonlyMap<string, readonly string[]> {
  const exporters = new Map<string, string[]>();
  for (const [file, source] of files)
    for (const [, name = ''] of blankComments(source).matchAll(declaration))
      exporters.set(name, [...(exporters.get(name) ?? []), file]);
  return new Map([...exporters].filter(([, list]) => new Set(list).size > 1));
}

const declaration =
  /^export\s+(?:declare\s+|abstract\s+|async\s+|const\s+(?=enum))*(?:function\*?|const|let|class|interface|type|enum)\s+([\w$]+)/gm;
