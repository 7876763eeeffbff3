import { describe, expect, it } from 'vitest';
import { eras, type ServerOptions } from '../support/mcp.ts';
import { shareServers } from './shared-servers.ts';

const serve = shareServers();
const env = { ALLOWED_COMMANDS: '*' };
const shapes = [
  ['an unknown client gets both', {}, ['text', 'data']],
  ['a client that passes text on gets text', { name: 'claude-code' }, ['text']],
  ['reply: text', { args: ['--reply', 'text'] }, ['text']],
  ['reply: data', { env: { ...env, NACRE_REPLY: 'data' } }, ['data']],
  ['reply: both, for a known client too', { name: 'claude-code', args: ['--reply=both'] }, ['text', 'data']],
] as const satisfies readonly (readonly [string, ServerOptions, readonly string[]])[];

describe.concurrent.each(eras)('T2: the shape of replies over MCP %s', (era) => {
  it.each(shapes)('%s', async (_what, options, parts) => {
    const { client } = await serve({ era, env, ...options });
    const execute = (command: string, _meta = {}) =>
      client.callTool({ name: 'execute_command', arguments: { command }, _meta });
    const { tools } = await client.listTools();
    const hasSchema = tools.map(({ outputSchema }) => outputSchema !== undefined);
    expect(new Set(hasSchema)).toEqual(new Set([parts.some((part) => part === 'data')]));

    const done = await execute('echo hi; echo no >&2; exit 3');
    expect(partsOf(done)).toEqual(parts);
    expect(JSON.stringify(done)).toMatch(/hi.*no/);
    const refused = await execute('if');
    expect(refused.isError).toBe(true);
    expect(partsOf(refused)).toEqual(['text']);
    const long = await execute('seq 1 20000');
    expect(partsOf(long)).toEqual(parts);
    for (const result of [done, refused, long]) expect(result._meta?.['nacre/id']).toBeUndefined();

    const detailed = await execute('seq 1 20000', { 'nacre/details': true });
    expect(partsOf(detailed)).toEqual([
      ...parts.filter((part) => part === 'text'),
      'resource_link',
      ...parts.filter((part) => part === 'data'),
    ]);
    expect(detailed._meta).toMatchObject({ 'nacre/id': expect.stringMatching(/^cmd_/) });
  });
});

function partsOf({ content, structuredContent }: { content?: unknown; structuredContent?: unknown }) {
  const types = (content as { type: string }[]).map(({ type }) => type);
  return [...types, ...(structuredContent === undefined ? [] : ['data'])];
}
