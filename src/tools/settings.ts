import { z } from 'zod';
import { defineSettings } from '../settings/define.ts';
import { environmentPattern, environmentWords } from '../settings/environment-pattern.ts';

/** All tool families. */
export const toolFamilies = ['terminal', 'shell-execute', 'bash'] as const;

/** Name of a tool family. */
export type ToolFamily = (typeof toolFamilies)[number];

/** Settings for the choice of tools, and those of a single family. */
export const toolSettings = defineSettings({
  tools: z
    .array(z.enum([...toolFamilies, 'all']))
    .min(1)
    .default(['terminal'])
    .meta({
      env: 'NACRE_TOOLS',
      flag: '--tools',
      description: 'Tool families to offer; all offers every family.',
      everything: 'all',
      project: 'intersect',
    }),
  onTimeout: z.enum(['kill', 'background']).default('kill').meta({
    env: 'NACRE_ON_TIMEOUT',
    flag: '--on-timeout',
    description:
      'What to do with a Bash command that exceeds its timeout: kill it, or keep it running as a background shell.',
  }),
  shellExecuteAllowedCommands: z.array(z.string()).optional().meta({
    live: true,
    env: 'NACRE_SHELL_EXECUTE_ALLOWED_COMMANDS',
    flag: '--shell-execute-allow',
    description: 'Programs that shell_execute may run; if ALLOWED_COMMANDS is set, it must allow them too.',
    accepts: 'a comma-separated list of programs, or *',
    unset: 'the value of ALLOWED_COMMANDS',
    everything: '*',
    project: 'intersect',
  }),
  shellExecuteCwdRoots: z.array(z.string()).default([]).meta({
    live: true,
    env: 'NACRE_SHELL_EXECUTE_CWD_ROOTS',
    flag: '--shell-execute-cwd-roots',
    description: 'Directories that shell_execute may run in; ALLOWED_CWD_ROOTS applies as well.',
    accepts: 'a comma-separated list of directories',
    unset: 'empty, no restriction',
    path: true,
    project: 'alongside',
  }),
  shellExecuteEnvPass: z.array(environmentPattern).default([]).meta({
    live: true,
    env: 'NACRE_SHELL_EXECUTE_ENV_PASS',
    flag: '--shell-execute-env-pass',
    description: 'Variables that shell_execute passes to commands even if they look like secrets.',
    accepts: environmentWords,
    project: 'intersect',
  }),
  shellExecuteEnvWithhold: z.array(environmentPattern).default([]).meta({
    live: true,
    env: 'NACRE_SHELL_EXECUTE_ENV_WITHHOLD',
    flag: '--shell-execute-env-withhold',
    description: 'Variables that only shell_execute withholds from commands.',
    accepts: environmentWords,
    project: 'add',
  }),
});

/** Expands the setting into families, without duplicates, in the order of `toolFamilies`. */
export function toFamilies(tools: readonly (ToolFamily | 'all')[]): ToolFamily[] {
  return toolFamilies.filter((family) => tools.includes('all') || tools.includes(family));
}
