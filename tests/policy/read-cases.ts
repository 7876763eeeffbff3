import { readFileSync } from 'node:fs';

/** A command, the list it is judged under, and the expected verdict. */
export interface Case {
  readonly id: string;
  readonly command: string;
  readonly allow: readonly string[] | '*';
  readonly expect: 'allow' | 'deny';
  readonly class: string;
  readonly why: string;
}

/** Reads the cases of a JSON Lines file in this folder. */
export function readCases<T = Case>(name: string): T[] {
  const text = readFileSync(new URL(name, import.meta.url), 'utf8');
  return text
    .trim()
    .split('\n')
    .map((line): T => JSON.parse(line));
}
