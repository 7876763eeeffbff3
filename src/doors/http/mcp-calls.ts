import type { Tool, ToolReply } from '../../tools/define-tool.ts';
import type { HttpCaller } from './callers.ts';
import { charge } from './charge.ts';
import { HttpProblem } from './problem.ts';

/** The calls that come over MCP, where one request can bring many and where none of them waits in line. */
export interface McpCalls {
  /** The tools of a caller: each call counts against its rate, and is open until it is answered. */
  toolsOf(caller: HttpCaller): readonly Tool[];
  /** How many are open. */
  count(): number;
}

/** Counts from nothing. */
export function createMcpCalls(): McpCalls {
  let open = 0;
  const counted = (caller: HttpCaller, tool: Tool): Tool => ({
    ...tool,
    async call(input, context) {
      open += 1;
      try {
        charge(caller, 'commands');
        return await tool.call(input, context);
      } catch (error) {
        if (error instanceof HttpProblem) return toReply(error);
        throw error;
      } finally {
        open -= 1;
      }
    },
  });
  return {
    toolsOf: (caller) => caller.tools.map((tool) => counted(caller, tool)),
    count: () => open,
  };
}

function toReply({ message }: HttpProblem): ToolReply {
  return { text: message, structured: { error: message }, isError: true };
}
