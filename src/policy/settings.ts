import { changesModes } from '../contract/changes.ts';
import type { AllowList } from '../contract/decision.ts';
import { defineSettings } from '../settings/define.ts';
import { s } from '../settings/schema.ts';
import { narrowList } from '../settings/tighten.ts';
import { presetNames, presets } from './presets.ts';

const examples = s.list(s.text().min(1)).max(100);

const policyRule = s.object({
  verdict: s.choice(['allow', 'ask', 'deny']),
  program: s.text().min(1),
  args: s.list(s.text()).max(100).optional(),
  cwd: s.text().regex(/^\//).optional(),
  changes: s.choice(changesModes).optional(),
  reason: s.text().min(1),
  examples: s.object({ matches: examples.min(1), spares: examples.optional() }),
});

/** Policy settings: which programs may run, where, and whether dangerous commands are refused. */
export const policySettings = defineSettings({
  allowedCommands: s
    .list(s.text())
    .optional()
    .meta({
      live: true,
      env: ['ALLOWED_COMMANDS', 'NACRE_ALLOWED_COMMANDS'],
      flag: '--allow',
      description:
        'Programs that commands may run; * allows all of them. An entry with arguments, such as git status, allows the program with exactly these first words.',
      accepts: 'a comma-separated list of programs, or *',
      unset: 'unset; the terminal tools then run nothing',
      everything: '*',
      project: 'intersect',
    }),
  preset: s.choice(presetNames).optional().meta({
    live: true,
    env: 'NACRE_PRESET',
    flag: '--preset',
    description:
      'A ready-made list of programs that commands may run; a list from the same source is added to it.',
    unset: 'no preset',
    implies: presets,
  }),
  fileWrites: s.choice(['any', 'none']).default('any').meta({
    live: true,
    env: 'NACRE_FILE_WRITES',
    flag: '--file-writes',
    description: 'Whether commands may write files by redirection, or with a program known to write files.',
    project: 'stricter',
  }),
  allowedCwdRoots: s
    .list(s.text())
    .default([])
    .meta({
      live: true,
      env: ['ALLOWED_CWD_ROOTS', 'NACRE_ALLOWED_CWD_ROOTS'],
      flag: '--cwd-roots',
      description: 'Directories that commands may run in, including everything below them.',
      accepts: 'a comma-separated list of directories',
      unset: 'empty, no restriction',
      path: true,
      project: 'alongside',
    }),
  programDirs: s
    .list(s.text().regex(/^\/.*[^/]$/))
    .default([])
    .meta({
      live: true,
      env: 'NACRE_PROGRAM_DIRS',
      flag: '--program-dirs',
      description:
        'Directories, besides /bin, /usr/bin, /sbin and /usr/sbin, in which a listed name also allows a program called by its path.',
      accepts: 'a comma-separated list of absolute directories, such as /usr/local/bin',
      unset: 'none',
      project: 'intersect',
    }),
  danger: s.choice(['off', 'block']).default('block').meta({
    live: true,
    env: 'NACRE_DANGER',
    flag: '--danger',
    description:
      'Whether commands that would destroy the system are refused, even if their programs are allowed.',
    project: 'stricter',
  }),
  confirm: s.choice(['never', 'unlisted']).default('never').meta({
    live: true,
    env: 'NACRE_CONFIRM',
    flag: '--confirm',
    description: 'Whether commands that are not considered safe need approval.',
    project: 'stricter',
  }),
  approvalSeconds: s.int().min(1).max(86_400).default(600).meta({
    env: 'NACRE_APPROVAL_SECONDS',
    flag: '--approval-seconds',
    description: 'How long a command waits for approval, and how long the answer is then valid.',
    project: 'lower',
  }),
  policy: s.list(policyRule).default([]).meta({
    live: true,
    description:
      'Rules in addition to the list, matched against the arguments after quoting and expansion; the strictest match wins.',
    accepts:
      'a list of rules, each with verdict, program, reason, examples and optionally args, cwd and changes',
    unset: 'no rules',
    project: 'alongside',
  }),
});

/**
 * Returns the allow list of a tool family. If `list` is unset, `whenUnset` decides, and the project's `limit` then
 * applies only to `everything`, because a limit never allows anything. A list that is set but empty allows nothing.
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
