import { z } from 'zod';
import type { AllowList } from '../contract/decision.ts';
import { defineSettings } from '../settings/define.ts';
import { narrowList } from '../settings/tighten.ts';
import { presetNames, presets } from './presets.ts';

const examples = z.array(z.string().min(1)).max(100);

const policyRule = z.strictObject({
  verdict: z.enum(['allow', 'ask', 'deny']),
  program: z.string().min(1),
  args: z.array(z.string()).max(100).optional(),
  cwd: z.string().regex(/^\//).optional(),
  reason: z.string().min(1),
  examples: z.strictObject({ matches: examples.min(1), spares: examples.optional() }),
});

/** What policy is told: which programs may run, where, and whether danger is refused. */
export const policySettings = defineSettings({
  allowedCommands: z
    .array(z.string())
    .optional()
    .meta({
      live: true,
      env: ['ALLOWED_COMMANDS', 'NACRE_ALLOWED_COMMANDS'],
      flag: '--allow',
      description: 'Programs that commands may run; * allows all of them.',
      accepts: 'a comma list of programs, or *',
      unset: 'unset; the terminal tools then run nothing',
      everything: '*',
      project: 'intersect',
    }),
  preset: z.enum(presetNames).optional().meta({
    live: true,
    env: 'NACRE_PRESET',
    flag: '--preset',
    description: 'A ready list of programs that commands may run; what the same place lists is added to it.',
    unset: 'no preset',
    implies: presets,
  }),
  fileWrites: z.enum(['any', 'none']).default('any').meta({
    live: true,
    env: 'NACRE_FILE_WRITES',
    flag: '--file-writes',
    description:
      'Whether commands may write files by redirection, or with a program that is seen to write one.',
    project: 'stricter',
  }),
  allowedCwdRoots: z
    .array(z.string())
    .default([])
    .meta({
      live: true,
      env: ['ALLOWED_CWD_ROOTS', 'NACRE_ALLOWED_CWD_ROOTS'],
      flag: '--cwd-roots',
      description: 'Directories that the working directory of a command must lie in.',
      accepts: 'a comma list of directories',
      unset: 'empty, which restricts nothing',
      path: true,
      project: 'alongside',
    }),
  programDirs: z
    .array(z.string().regex(/^\/.*[^/]$/))
    .default([])
    .meta({
      live: true,
      env: 'NACRE_PROGRAM_DIRS',
      flag: '--program-dirs',
      description:
        'Directories beside /bin, /usr/bin, /sbin and /usr/sbin where a listed name also covers the path.',
      accepts: 'a comma list of absolute directories, such as /usr/local/bin',
      unset: 'none',
      project: 'intersect',
    }),
  danger: z.enum(['off', 'block']).default('block').meta({
    live: true,
    env: 'NACRE_DANGER',
    flag: '--danger',
    description: 'Whether commands that destroy a system are refused, whatever else is allowed.',
    project: 'stricter',
  }),
  confirm: z.enum(['never', 'unlisted']).default('never').meta({
    live: true,
    env: 'NACRE_CONFIRM',
    flag: '--confirm',
    description: 'Whether commands that are not generally safe need approval.',
    project: 'stricter',
  }),
  approvalSeconds: z.int().min(1).max(86_400).default(600).meta({
    env: 'NACRE_APPROVAL_SECONDS',
    flag: '--approval-seconds',
    description: 'How long a command waits for nacre approvals, and an approval for its command.',
    project: 'lower',
  }),
  policy: z.array(policyRule).default([]).meta({
    live: true,
    description: 'Rules beside the list, matched on decoded arguments; the strictest that matches wins.',
    accepts: 'a list of rules, each with verdict, program, reason, examples and perhaps args and cwd',
    unset: 'no rules',
    project: 'alongside',
  }),
});

/**
 * The list that a tool family goes by. While none is set, `whenUnset` says what the family does then, and only
 * a family that would run everything is bound by the project's limit: a limit never allows anything. A list that is
 * set and empty allows nothing for anybody.
 */
export function toAllowList(
  list: readonly string[] | undefined,
  limit: readonly string[] | undefined,
  whenUnset: 'nothing' | 'everything',
): AllowList {
  if (list === undefined && whenUnset === 'nothing') return { kind: 'none' };
  const names = narrowList(list ?? ['*'], limit, '*');
  if (names.length === 0) return { kind: 'none' };
  return names.includes('*') ? { kind: 'all' } : { kind: 'names', names };
}
