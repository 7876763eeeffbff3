import { z } from 'zod';
import { defineSettings } from '../settings/define.ts';
import { environmentPattern, environmentWords } from '../settings/environment-pattern.ts';

/** The tool families there are. */
export const toolFamilies = ['terminal', 'shell-execute', 'bash'] as const;

/** The name of one tool family. */
export type ToolFamily = (typeof toolFamilies)[number];

/** Which tools are offered, and what binds one family alone. */
export const toolSettings = defineSettings({
  tools: z
    .array(z.enum([...toolFamilies, 'all']))
    .min(1)
    .default(['terminal'])
    .meta({
      env: 'NACRE_TOOLS',
      flag: '--tools',
      description: 'Tool families to offer; all offers every one.',
      everything: 'all',
      project: 'intersect',
    }),
  onTimeout: z.enum(['kill', 'background']).default('kill').meta({
    env: 'NACRE_ON_TIMEOUT',
    flag: '--on-timeout',
    description:
      'What becomes of a command of the Bash tool that takes longer than its timeout: it is ended, or it goes on as a background shell.',
  }),
  shellExecuteAllowedCommands: z.array(z.string()).optional().meta({
    live: true,
    env: 'NACRE_SHELL_EXECUTE_ALLOWED_COMMANDS',
    flag: '--shell-execute-allow',
    description: 'Programs that shell_execute may run, of those that ALLOWED_COMMANDS allows when it is set.',
    accepts: 'a comma-separated list of programs, or *',
    unset: 'what ALLOWED_COMMANDS says',
    everything: '*',
    project: 'intersect',
  }),
  shellExecuteCwdRoots: z.array(z.string()).default([]).meta({
    live: true,
    env: 'NACRE_SHELL_EXECUTE_CWD_ROOTS',
    flag: '--shell-execute-cwd-roots',
    description: 'Directories that working_directory must lie in, beside those of ALLOWED_CWD_ROOTS.',
    accepts: 'a comma-separated list of directories',
    unset: 'empty, which restricts nothing',
    path: true,
    project: 'alongside',
  }),
  shellExecuteEnvPass: z.array(environmentPattern).default([]).meta({
    live: true,
    env: 'NACRE_SHELL_EXECUTE_ENV_PASS',
    flag: '--shell-execute-env-pass',
    description: 'Variables that commands of shell_execute get although their names look like secrets.',
    accepts: environmentWords,
    project: 'intersect',
  }),
  shellExecuteEnvWithhold: z.array(environmentPattern).default([]).meta({
    live: true,
    env: 'NACRE_SHELL_EXECUTE_ENV_WITHHOLD',
    flag: '--shell-execute-env-withhold',
    description: 'Variables withheld from commands of shell_execute alone.',
    accepts: environmentWords,
    project: 'add',
  }),
});

/** The families that the setting names, each once, in the order of `toolFamilies`. */
export function toFamilies(tools: readonly (ToolFamily | 'all')[]): ToolFamily[] {
  return toolFamilies.filter((family) => tools.includes('all') || tools.includes(family));
}
