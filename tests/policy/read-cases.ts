import { readFileSync } from 'node:fs';

/** A command, the list it is judged under and the verdict that it should get. */
export interface Case {
  readonly id: string;
  readonly command: string;
  readonly allow: readonly string[] | '*';
  readonly expect: 'allow' | 'deny';
  readonly class: string;
  readonly why: string;
}

/** The cases of a file in this folder, one JSON document a line. */
export function readCases<T = Case>(name: string): T[] {
  const text = readFileSync(new URL(name, import.meta.url), 'utf8');
  return text
    .trim()
    .split('\n')
    .map((line): T => JSON.parse(line));
}
