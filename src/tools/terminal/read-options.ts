import { z } from 'zod';
import type { ReadQuery } from '../../engine/reading/read-command.ts';
import { findPatternProblem } from '../../output/matcher.ts';
import { toYamlReply } from '../../output/yaml-reply.ts';
import { limitOutput } from '../common/fit-reply.ts';
import type { ToolContext } from '../common/tool.ts';

const pattern = z
  .string()
  .max(1_000)
  .superRefine((text, context) => {
    const problem = findProblem(text);
    if (problem !== undefined) context.addIssue(problem);
  })
  .optional();
const cursor = z.int().min(0).max(1_099_511_627_776).optional();

/** Schema of a command's id or name. */
export const commandId = z.string().min(1).max(100).describe('Id or name');

/** Fields that decide when a call returns. */
export const waiting = {
  wait_ms: z.int().min(0).max(50_000).default(1_000),
  wait_for: pattern.describe('JavaScript RegExp'),
  idle_ms: z.int().min(1).max(50_000).optional(),
};

/** Fields of a terminal size. */
export const terminalSize = { cols: z.int().min(2).max(500), rows: z.int().min(1).max(200) };

/** Fields that decide which output a call returns, and when. */
export const reading = {
  ...waiting,
  cursor,
  filter: pattern,
  stream: z.enum(['stdout', 'stderr']).optional(),
  view: z.enum(['clean', 'raw', 'tail', 'screen']).default('clean'),
  max_output_chars: z.int().min(1).max(200_000).optional(),
};

const readOptions = z.object(reading);

/** Converts these fields into a query for the engine. */
export function toReadQuery(
  options: Partial<z.output<typeof readOptions>> & { readonly wait_ms: number },
  defaults: { readonly maxOutputChars: number },
  context: ToolContext,
): ReadQuery {
  const { view = 'clean' } = options;
  return {
    cursor: options.cursor,
    waitMs: options.wait_ms,
    waitFor: options.wait_for,
    idleMs: options.idle_ms,
    filter: options.filter,
    stream: options.stream,
    untilInput: true,
    wantsScreen: view === 'screen',
    ...limitOutput(context, {
      defaultChars: defaults.maxOutputChars,
      askedChars: options.max_output_chars,
      write: (stdout, stderr) => toYamlReply({ stdout, stderr }),
    }),
    keep: view === 'tail' ? 'end' : 'ends',
    view: view === 'raw' ? 'raw' : 'clean',
    howToReadOn: () => '',
  };
}

function findProblem(text: string): string | undefined {
  const problem = findPatternProblem(text);
  return problem === undefined ? undefined : `must be a JavaScript RegExp: ${problem}`;
}
