import { type JSONRPCRequest, type Result, Server, type ServerContext } from '@modelcontextprotocol/server';

type Handler = (request: JSONRPCRequest, context: ServerContext) => Promise<Result>;

/** Methods whose results have `instructions`: the handshake, and since 2026-07-28 a request that can be repeated. */
const introductions: readonly string[] = ['initialize', 'server/discover'];

/** An MCP server that computes its `instructions` for each request; the SDK's own are fixed when it is created. */
export class InstructedServer extends Server {
  /** Returns the instructions for the client of a request. Set by the creator, before the server is connected. */
  instruct: ((context: ServerContext) => Promise<string>) | undefined;

  protected override _wrapHandler(method: string, handler: Handler): Handler {
    if (!introductions.includes(method)) return super._wrapHandler(method, handler);
    return super._wrapHandler(method, async (request, context) => {
      // The SDK's handler runs first, because it stores `clientInfo`, on which the instructions depend.
      const result = await handler(request, context);
      const instructions = await this.instruct?.(context);
      return instructions === undefined ? result : { ...result, instructions };
    });
  }
}
