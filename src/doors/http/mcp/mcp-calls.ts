import type { Tool, ToolReply } from '../../../tools/common/tool.ts';
import type { HttpCaller } from '../access/callers.ts';
import { charge } from '../access/rate-limit.ts';
import { HttpProblem } from '../requests/problem.ts';

/** Tool calls over MCP. They bypass the fair queue, and one request can contain many of them. */
export interface McpCalls {
  /** The tools of a caller, wrapped: each call counts against its rate limit, and as open until it returns. */
  toolsOf(caller: HttpCaller, refresh: () => Promise<void>): CountedTools;
  /** How many calls are open. */
  count(): number;
}

/** The tools of a caller for the MCP door; the list is the same object until they change. */
export interface CountedTools {
  list(): readonly Tool[];
  instructions(): Promise<string>;
  refresh(): Promise<void>;
}

/** Creates a counter with no open calls. */
export function createMcpCalls(): McpCalls {
  let open = 0;
  const counted = (caller: HttpCaller, tool: Tool): Tool => ({
    ...tool,
    async call(input, context) {
      open += 1;
      try {
        charge(caller, 'commands');
        return await tool.call(input, { ...context, caller: { ...context.caller, token: caller.token } });
      } catch (error) {
        if (error instanceof HttpProblem) return toErrorReply(error);
        throw error;
      } finally {
        open -= 1;
      }
    },
  });
  return {
    toolsOf(caller, refresh) {
      const { offered } = caller;
      let last: { readonly of: unknown; readonly tools: readonly Tool[] } | undefined;
      return {
        list() {
          const of = offered?.list();
          if (last === undefined || last.of !== of)
            last = { of, tools: caller.tools.map((tool) => counted(caller, tool)) };
          return last.tools;
        },
        instructions: async () => (await offered?.instructions()) ?? 'This caller may not run commands.',
        refresh,
      };
    },
    count: () => open,
  };
}

function toErrorReply({ message }: HttpProblem): ToolReply {
  return { text: message, structured: { error: message }, isError: true };
}
