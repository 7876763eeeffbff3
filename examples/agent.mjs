// An agent: calls a model with nacre's tools, and runs its tool calls until it makes no more.
// OPENAI_API_KEY=… MODEL=… node examples/agent.mjs 'Which files here are larger than 1 MB?'
import { fileURLToPath } from 'node:url';
import { createNacre, toText } from 'nacre';

const maxTurns = 30;

/** Calls `model` with the conversation and the tools until it replies without a tool call. */
export async function runAgent(model, task, settings, context) {
  const nacre = await createNacre(settings);
  const tools = nacre.registry.getAllSchemas('openai');
  const messages = [{ role: 'user', content: task }];
  try {
    for (let turn = 0; turn < maxTurns; turn += 1) {
      const message = await model({ messages, tools });
      messages.push(message);
      if (!message.tool_calls?.length) return message.content;
      for (const { id, function: call } of message.tool_calls) {
        const result = await nacre.registry.execute(call.name, call.arguments, context);
        messages.push({ role: 'tool', tool_call_id: id, content: toText(result) });
      }
    }
    return `Not done after ${maxTurns} turns.`;
  } finally {
    await nacre.close();
  }
}

async function askModel(request) {
  const { OPENAI_BASE_URL = 'https://api.openai.com/v1', OPENAI_API_KEY, MODEL } = process.env;
  const headers = { authorization: `Bearer ${OPENAI_API_KEY}`, 'content-type': 'application/json' };
  const body = JSON.stringify({ model: MODEL, ...request });
  const response = await fetch(`${OPENAI_BASE_URL}/chat/completions`, { method: 'POST', headers, body });
  if (!response.ok) throw new Error(`The API returned ${response.status}: ${await response.text()}`);
  return (await response.json()).choices[0].message;
}

if (process.argv[1] === fileURLToPath(import.meta.url))
  console.log(await runAgent(askModel, process.argv[2], { allowedCommands: ['ls', 'find', 'cat', 'wc'] }));
