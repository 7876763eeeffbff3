import type { HttpCaller } from './callers.ts';
import { HttpProblem } from './problem.ts';

/** What a call came to, on the wire. */
interface ToolAnswer {
  readonly is_error: boolean;
  readonly text: string;
  readonly result: unknown;
}

/** Calls a tool with a body of JSON; whatever it says is an answer, also that it failed. */
export async function callTool(
  name: string,
  input: unknown,
  caller: HttpCaller,
  signal: AbortSignal,
): Promise<ToolAnswer> {
  const tool = caller.tools.find((one) => one.name === name);
  if (!tool) throw unknownTool(name, caller);
  const reply = await tool.call(input, {
    caller: { door: 'http', client: caller.client },
    owner: caller.owner,
    signal,
  });
  const { text, moreTexts = [], structured, isError } = reply;
  return { is_error: isError, text: [text, ...moreTexts].join('\n'), result: structured };
}

function unknownTool(name: string, { tools }: HttpCaller): HttpProblem {
  const known = tools.map((tool) => tool.name).join(', ');
  const offered = known === '' ? 'This caller has no tools.' : `Tools: ${known}.`;
  return new HttpProblem(404, `There is no tool ${JSON.stringify(name)}. ${offered}`);
}
