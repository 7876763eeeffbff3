import type { Next } from './model/model-server.ts';
import type { ModelRequest, ModelResult, ModelTurn } from './model/protocol.ts';

/** A tool call of the scripted model. */
export interface ScriptedCall {
  readonly tool: string;
  readonly args: object;
}

/** The calls of a scripted model, and the results that it got. */
export interface Script {
  readonly next: Next;
  /** The result of each call as the model first received it. */
  readonly results: readonly ModelResult[];
  /** The tools of nacre that the client offered. */
  readonly tools: readonly string[];
}

/** A model that makes these calls one after the other, then ends its turn. */
export function scriptCalls(calls: readonly ScriptedCall[]): Script {
  const results: ModelResult[] = [];
  const tools = new Set<string>();
  return {
    results,
    get tools() {
      return [...tools];
    },
    next(request, body) {
      const offered = toOffer(request, JSON.stringify(body));
      // Clients also ask for titles and summaries, without tools.
      if (offered.names.length === 0) return { kind: 'text', text: 'ok' };
      for (const name of offered.names) tools.add(name);
      results.push(...request.results.slice(results.length));
      const call = calls[request.results.length];
      if (call === undefined) return { kind: 'text', text: 'done' };
      return offered.call(`call_${request.results.length}`, call);
    },
  };
}

interface Offer {
  readonly names: readonly string[];
  call(id: string, call: ScriptedCall): ModelTurn;
}

/** How nacre's tools can be called in a request: by their names, or through another tool (Qwen Code). */
function toOffer({ tools }: ModelRequest, body: string): Offer {
  const own = tools.filter((name) => name.includes('nacre'));
  // Continue adds no prefix.
  const isBare = tools.includes('execute_command') || tools.includes('probe');
  const names = own.length > 0 || !isBare ? own : tools;
  if (names.length > 0)
    return {
      names,
      call: (id, { tool, args }) => ({
        kind: 'call',
        id,
        name: names.find((one) => isTool(one, tool)) ?? tool,
        args,
      }),
    };
  const deferred = tools.includes('tool_call') ? [...new Set(body.match(/mcp__nacre__\w+/g))] : [];
  return {
    names: deferred,
    call: (id, { tool, args }) => ({
      kind: 'call',
      id,
      name: 'tool_call',
      args: { name: `mcp__nacre__${tool}`, arguments: args },
    }),
  };
}

function isTool(offered: string, tool: string): boolean {
  return (
    offered === tool ||
    ['_', '-', '/'].some((separator) => offered.endsWith(`nacre${separator}${tool}`)) ||
    ['__', '//'].some((separator) => offered.endsWith(`nacre${separator}${tool}`))
  );
}
