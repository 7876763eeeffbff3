import type { ToolResult } from '../../contract/tool-result.ts';
import type { ToolSchema } from '../../tools/common/tool.ts';
import type { ExecutionContext } from './execution-context.ts';
import type { FunctionTool } from './function-tool.ts';
import type { ToolRegistry } from './tool-registry.ts';

/** Anthropic's bash tool: models know its schema, but the program has to execute it. */
export interface AnthropicBash extends FunctionTool {
  /** Its entry in the `tools` of a Messages request. */
  readonly definition: { readonly type: 'bash_20250124'; readonly name: 'bash' };
}

/** Implements `bash_20250124` with the `Bash` and `KillShell` tools of a registry. */
export function toAnthropicBash(registry: ToolRegistry): AnthropicBash {
  return {
    definition: { type: 'bash_20250124', name: 'bash' },
    name: 'bash',
    description: 'Runs a command in a persistent bash, or restarts it.',
    category: 'execution',
    inputSchema: () => schema,
    async run(input, context = {}) {
      const { command, restart: mustRestart } = toFields(input);
      if (mustRestart === true) return restart(registry, context);
      if (command === undefined || command === null) return failure('Pass a command, or restart: true.');
      return registry.execute('Bash', { command }, context);
    },
  };
}

const schema: ToolSchema = {
  type: 'object',
  properties: {
    command: { type: 'string', description: 'The command to run' },
    restart: { type: 'boolean', description: 'Restart the shell' },
  },
};

function toFields(input: unknown): { readonly command?: unknown; readonly restart?: unknown } {
  return typeof input === 'object' && input !== null ? input : {};
}

// `job_not_found` means that the shell was never started or has exited, so the next call starts a new one anyway.
async function restart(registry: ToolRegistry, context: ExecutionContext): Promise<ToolResult> {
  const killed = await registry.execute('KillShell', { shell_id: context.session ?? 'main' }, context);
  if (!killed.success && killed.metadata.code !== 'job_not_found') return killed;
  return { success: true, output: 'The shell has been restarted.', metadata: { restarted: true } };
}

function failure(error: string): ToolResult {
  return { success: false, output: '', error, metadata: {} };
}
