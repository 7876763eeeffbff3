import { readFileSync } from 'node:fs';
import type { ShellExecuteResult } from '../../src/index.ts';

/** The example replies of shell_execute's specification. */
export const exampleReplies = JSON.parse(
  readFileSync(new URL('../fixtures/shell-execute-replies.json', import.meta.url), 'utf8'),
) as Readonly<Record<'success' | 'failure' | 'timeout', ShellExecuteResult>>;

/** The metadata keys that nacre may add to those of the examples. */
export const addedKeys = ['id', 'signal', 'truncated', 'resources', 'enforcement'];

/** The `typeof` of each metadata value, without `addedKeys`. */
export function shapeOf(metadata: object): Record<string, string> {
  const specified = Object.entries(metadata).filter(([key]) => !addedKeys.includes(key));
  return Object.fromEntries(specified.map(([key, value]) => [key, typeof value]));
}
