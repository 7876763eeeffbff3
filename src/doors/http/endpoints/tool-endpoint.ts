import { toMcpTool } from '../../to-mcp-tool.ts';
import { type HttpCaller, toCaller } from '../access/callers.ts';
import type { FairQueue } from '../requests/fair-queue.ts';
import { HttpProblem } from '../requests/problem.ts';
import { type Exchange, type Reply, toJsonReply } from '../requests/raw-http.ts';
import { readJson } from '../requests/read-body.ts';

/** Serves GET /api/tools: the tools of a caller, with their schemas. */
export function listTools({ tools }: HttpCaller): Reply {
  return toJsonReply(200, { tools: tools.map((tool) => toMcpTool(tool)) });
}

/** Serves POST /api/tools/NAME; a tool that reports an error is a 200 with `is_error`. */
export async function runTool(
  { queue }: { readonly queue: FairQueue },
  name: string,
  caller: HttpCaller,
  { incoming, signal }: Pick<Exchange, 'incoming' | 'signal'>,
): Promise<Reply> {
  const input = await readJson(incoming);
  return queue.run(caller.owner, caller.rules.share, signal, async () => {
    const tool = caller.tools.find((one) => one.name === name);
    if (!tool) throw unknownTool(name, caller);
    const {
      text,
      moreTexts = [],
      structured,
      isError,
    } = await tool.call(input, {
      caller: toCaller(caller),
      owner: caller.owner,
      signal,
    });
    return toJsonReply(200, {
      is_error: isError,
      text: [text, ...moreTexts].join('\n'),
      result: structured,
    });
  });
}

function unknownTool(name: string, { tools }: HttpCaller): HttpProblem {
  const known = tools.map((tool) => tool.name).join(', ');
  const offered = known === '' ? 'This caller has no tools.' : `Tools: ${known}.`;
  return new HttpProblem(404, `There is no tool ${JSON.stringify(name)}. ${offered}`);
}
