import type { ToolResult } from '../../../contract/tool-result.ts';
import type { JsonSchema } from '../../../tools/define-tool.ts';
import type { ExecutionContext } from '../execution-context.ts';
import type { FunctionTool } from '../function-tool.ts';
import type { ToolRegistry } from '../tool-registry.ts';

/** Anthropic's own bash tool: models know it without a schema, and whoever offers it has to serve it. */
export interface AnthropicBash extends FunctionTool {
  /** What stands for it among the `tools` of messages. */
  readonly definition: { readonly type: 'bash_20250124'; readonly name: 'bash' };
}

/** Serves `bash_20250124` by the persistent shell of a registry that has the tools `Bash` and `KillShell`. */
export function toAnthropicBash(registry: ToolRegistry): AnthropicBash {
  return {
    definition: { type: 'bash_20250124', name: 'bash' },
    name: 'bash',
    description: 'Runs a command in a persistent bash, or restarts it.',
    category: 'execution',
    inputSchema: () => schema,
    async run(input, context = {}) {
      const { command, restart } = toFields(input);
      if (restart === true) return restarted(registry, context);
      if (command === undefined || command === null) return failed('Give a command, or restart: true.');
      return registry.execute('Bash', { command }, context);
    },
  };
}

const schema: JsonSchema = {
  type: 'object',
  properties: {
    command: { type: 'string', description: 'The command to run' },
    restart: { type: 'boolean', description: 'Begin with a new shell' },
  },
};

function toFields(input: unknown): { readonly command?: unknown; readonly restart?: unknown } {
  return typeof input === 'object' && input !== null ? input : {};
}

// A shell that was never begun, or has ended by itself, is as good as restarted.
async function restarted(registry: ToolRegistry, context: ExecutionContext): Promise<ToolResult> {
  const ended = await registry.execute('KillShell', { shell_id: context.session ?? 'main' }, context);
  if (!ended.success && ended.metadata.code !== 'job_not_found') return ended;
  return { success: true, output: 'The shell has been restarted.', metadata: { restarted: true } };
}

function failed(error: string): ToolResult {
  return { success: false, output: '', error, metadata: {} };
}
