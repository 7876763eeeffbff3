import { defineSettings } from '../settings/define.ts';
import { environmentPattern, environmentWords } from '../settings/environment-pattern.ts';
import { s } from '../settings/schema.ts';
import { BashLimits, ShellExecuteLimits } from './common/default-limits.ts';

/** All tool families. */
export const toolFamilies = ['terminal', 'shell-execute', 'bash', 'changes'] as const;

/** Name of a tool family. */
export type ToolFamily = (typeof toolFamilies)[number];

// A running server applies a change of these from the next command on.
const timeLimit = (name: string, ms: number, description: string) =>
  s
    .int()
    .min(1_000)
    .max(86_400_000)
    .default(ms)
    .meta({
      live: true,
      env: `NACRE_${name.toUpperCase()}`,
      flag: `--${name.replaceAll('_', '-')}`,
      description,
      project: 'lower',
    });

/** Settings for the choice of tools, and those of a single family. */
export const toolSettings = defineSettings({
  tools: s
    .list(s.choice([...toolFamilies, 'all']))
    .min(1)
    .default(['terminal'])
    .meta({
      env: 'NACRE_TOOLS',
      flag: '--tools',
      description: 'Tool families to offer; all offers every family.',
      everything: 'all',
      project: 'intersect',
    }),
  toolPrefix: s
    .text()
    .regex(/^(?:[A-Za-z_][A-Za-z0-9_-]{0,19})?$/)
    .default('')
    .meta({
      env: 'NACRE_TOOL_PREFIX',
      flag: '--tool-prefix',
      description:
        'Text before the name of every tool, for clients that do not separate the tools of different servers.',
      accepts: 'up to 20 letters, digits, _ or -, beginning with a letter or _, such as nacre_',
      unset: 'no prefix',
    }),
  onTimeout: s.choice(['kill', 'background']).default('kill').meta({
    env: 'NACRE_ON_TIMEOUT',
    flag: '--on-timeout',
    description:
      'What to do with a Bash command that exceeds its timeout: kill it, or keep it running as a background shell.',
  }),
  terminalTimeoutMs: timeLimit(
    'terminal_timeout_ms',
    55_000,
    'Milliseconds after which execute_command kills a command, unless the call sets timeout_ms; while this is not set, 120000 for clients on stdio that are known to wait that long.',
  ),
  terminalTimeoutMaxMs: timeLimit(
    'terminal_timeout_max_ms',
    600_000,
    'Longest timeout_ms that a call of execute_command may set.',
  ),
  bashTimeoutMs: timeLimit(
    'bash_timeout_ms',
    BashLimits.DEFAULT_TIMEOUT,
    'Milliseconds after which Bash kills a command, unless the call sets timeout.',
  ),
  bashTimeoutMaxMs: timeLimit(
    'bash_timeout_max_ms',
    BashLimits.MAX_TIMEOUT,
    'Longest timeout that a call of Bash may set, in milliseconds.',
  ),
  shellExecuteTimeoutMs: timeLimit(
    'shell_execute_timeout_ms',
    ShellExecuteLimits.DEFAULT_TIMEOUT * 1_000,
    'Milliseconds after which shell_execute kills a command, in whole seconds, unless the call sets timeout.',
  ),
  shellExecuteTimeoutMaxMs: timeLimit(
    'shell_execute_timeout_max_ms',
    ShellExecuteLimits.MAX_TIMEOUT * 1_000,
    'Longest timeout that a call of shell_execute may set, in milliseconds.',
  ),
  shellExecuteAllowedCommands: s.list(s.text()).optional().meta({
    live: true,
    env: 'NACRE_SHELL_EXECUTE_ALLOWED_COMMANDS',
    flag: '--shell-execute-allow',
    description: 'Programs that shell_execute may run; if ALLOWED_COMMANDS is set, it must allow them too.',
    accepts: 'a comma-separated list of programs, or *',
    unset: 'the value of ALLOWED_COMMANDS',
    everything: '*',
    project: 'intersect',
  }),
  shellExecuteCwdRoots: s.list(s.text()).default([]).meta({
    live: true,
    env: 'NACRE_SHELL_EXECUTE_CWD_ROOTS',
    flag: '--shell-execute-cwd-roots',
    description: 'Directories that shell_execute may run in; ALLOWED_CWD_ROOTS applies as well.',
    accepts: 'a comma-separated list of directories',
    unset: 'empty, no restriction',
    path: true,
    project: 'alongside',
  }),
  shellExecuteEnvPass: s.list(environmentPattern).default([]).meta({
    live: true,
    env: 'NACRE_SHELL_EXECUTE_ENV_PASS',
    flag: '--shell-execute-env-pass',
    description: 'Variables that shell_execute passes to commands even if they look like secrets.',
    accepts: environmentWords,
    project: 'intersect',
  }),
  shellExecuteEnvWithhold: s.list(environmentPattern).default([]).meta({
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
