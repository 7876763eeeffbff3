import type { SchemaObject } from 'ajv';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { describe, expect, it } from 'vitest';
import { eras, openRaw } from '../support/mcp.ts';
import { survivors } from '../support/nacre.ts';
import { shareServers } from './shared-servers.ts';

const serve = shareServers();

describe.concurrent.each(eras)('tools/list over MCP %s', (era) => {
  it('T3: describes execute_command for short commands, points to start_command, and stays below 10000 characters', async () => {
    const server = await serve({ era });
    const { tools } = await server.client.listTools();
    const tool = tools.find(({ name }) => name === 'execute_command');
    expect(tool?.description).toMatch(/short-lived, non-interactive/);
    expect(tool?.description).toMatch(/interactive or long-running ones use start_command/);
    expect(JSON.stringify(tools).length).toBeLessThan(10_000);
    for (const { name, title, annotations } of tools) {
      expect(name).toMatch(/^[a-zA-Z0-9_-]{1,64}$/);
      expect(title).toMatch(/\S/);
      expect(annotations).toEqual({
        readOnlyHint: expect.any(Boolean),
        destructiveHint: expect.any(Boolean),
        idempotentHint: expect.any(Boolean),
        openWorldHint: expect.any(Boolean),
      });
    }
  });
});

describe.concurrent('the schemas', () => {
  it('are JSON Schema 2020-12 objects without keywords that some clients reject', async () => {
    const server = await serve();
    const { tools } = await server.client.listTools();
    expect(tools.length).toBeGreaterThan(0);
    for (const { inputSchema, outputSchema } of tools) {
      for (const schema of [inputSchema, outputSchema ?? {}]) {
        new Ajv2020({ strict: true }).compile(schema as SchemaObject);
        expect(schema).toMatchObject({ type: 'object', properties: expect.any(Object) });
        expect(Object.keys(schema)).not.toEqual(
          expect.arrayContaining([expect.stringMatching(/^(any|one|all)Of$/)]),
        );
        expect(schema.$schema ?? 'https://json-schema.org/draft/2020-12/schema').toContain('2020-12');
        for (const integer of integersIn(schema)) {
          expect(integer.minimum).toBeGreaterThan(Number.MIN_SAFE_INTEGER);
          expect(integer.maximum).toBeLessThan(Number.MAX_SAFE_INTEGER);
        }
      }
      expect(inputSchema.additionalProperties).toBe(false);
    }
    expect(integersIn(tools.map(({ inputSchema }) => inputSchema)).length).toBeGreaterThanOrEqual(2);
  });

  it('T2: every reply is valid against the advertised outputSchema', async () => {
    const server = await serve({ env: { ALLOWED_COMMANDS: '*', MY_TOKEN: 'hidden' } });
    const { tools } = await server.client.listTools();
    const tool = tools.find(({ name }) => name === 'execute_command');
    const valid = new Ajv2020().compile(tool?.outputSchema as SchemaObject);
    const calls = [
      { command: 'true' },
      { command: 'false' },
      { command: 'sleep 63.5 & kill -15 $$' },
      { command: 'sleep 63.5', timeout_ms: 50 },
      { command: 'seq 1 99999' },
      { command: '' },
      { command: 'true', cwd: '/does/not/exist' },
      { command: 'if' },
    ];
    const replies = await Promise.all(calls.map((call) => server.call(call)));
    for (const { structured } of replies) expect([valid(structured), valid.errors]).toEqual([true, null]);
    const seen = new Set(replies.flatMap(({ structured }) => Object.keys(structured)));
    expect([...seen]).toEqual(
      expect.arrayContaining([
        'signal',
        'truncated',
        'left_running',
        'withheld_env',
        'error',
        'code',
        'hint',
      ]),
    );
  });
});

it.concurrent.each(['2024-10-07', '2024-11-05', '2025-03-26'])(
  'a client of protocol version %s is served',
  async (version) => {
    const server = await openRaw({}, version);
    expect(server.hello.result).toMatchObject({ protocolVersion: version, serverInfo: { name: 'nacre' } });
    expect((await server.call({ command: 'echo hi' })).result?.structuredContent).toMatchObject({
      stdout: 'hi\n',
    });
    server.child.stdin.end();
    expect(await survivors(server.mark)).toEqual([]);
  },
);

interface Integer {
  readonly minimum?: number;
  readonly maximum?: number;
}

function integersIn(value: unknown): Integer[] {
  if (typeof value !== 'object' || value === null) return [];
  const below = Object.values(value).flatMap(integersIn);
  return 'type' in value && value.type === 'integer' ? [value as Integer, ...below] : below;
}
