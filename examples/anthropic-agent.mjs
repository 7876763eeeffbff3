// The same agent for Anthropic's Messages API: with nacre's tools, or with Anthropic's own bash tool (--native).
// ANTHROPIC_API_KEY=… MODEL=… node examples/anthropic-agent.mjs 'What changed here today?' [--native]
import { fileURLToPath } from 'node:url';
import { createNacre, ToolRegistry, toAnthropicBash, toText } from 'nacre';

const maxTurns = 30;

/** Calls `model` with the conversation and the tools until it replies without a tool call. */
export async function runAgent(model, task, { native = false, context, ...settings } = {}) {
  const nacre = await createNacre(settings);
  const bash = toAnthropicBash(nacre.registry);
  const registry = native ? new ToolRegistry().register(bash) : nacre.registry;
  const tools = native ? [bash.definition] : registry.getAllSchemas('anthropic');
  const messages = [{ role: 'user', content: task }];
  try {
    for (let turn = 0; turn < maxTurns; turn += 1) {
      const { content } = await model({ max_tokens: 4_096, messages, tools });
      messages.push({ role: 'assistant', content });
      const calls = content.filter(({ type }) => type === 'tool_use');
      if (calls.length === 0) return content.map(({ text = '' }) => text).join('');
      const results = [];
      for (const { id, name, input } of calls) {
        const result = await registry.execute(name, input, context);
        results.push({
          type: 'tool_result',
          tool_use_id: id,
          content: toText(result),
          is_error: !result.success,
        });
      }
      messages.push({ role: 'user', content: results });
    }
    return `Not done after ${maxTurns} turns.`;
  } finally {
    await nacre.close();
  }
}

async function askModel(request) {
  const { ANTHROPIC_BASE_URL = 'https://api.anthropic.com', ANTHROPIC_API_KEY, MODEL } = process.env;
  const headers = {
    'x-api-key': ANTHROPIC_API_KEY,
    'anthropic-version': '2023-06-01',
    'content-type': 'application/json',
  };
  const body = JSON.stringify({ model: MODEL, ...request });
  const response = await fetch(`${ANTHROPIC_BASE_URL}/v1/messages`, { method: 'POST', headers, body });
  if (!response.ok) throw new Error(`The API returned ${response.status}: ${await response.text()}`);
  return response.json();
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const settings = {
    native: process.argv.includes('--native'),
    allowedCommands: ['ls', 'find', 'cat', 'wc', 'git'],
  };
  console.log(await runAgent(askModel, process.argv[2], settings));
}
