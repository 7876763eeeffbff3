import { z } from 'zod';
import type { Tool } from '../../tools/define-tool.ts';
import { shellRequest } from './post-shell.ts';

const text = { type: 'string' } as const;
const shellReply = {
  type: 'object',
  properties: {
    stdout: text,
    stderr: text,
    code: { type: 'integer', description: 'The exit code; 128 + N after death by signal N.' },
    signal: text,
    id: text,
    duration_ms: { type: 'integer' },
    truncated: { type: 'boolean' },
  },
  required: ['stdout', 'stderr', 'code'],
};
const failure = {
  type: 'object',
  properties: { error: text, hint: text, reason: text, stdout: text, stderr: text },
  required: ['error'],
};
const toolReply = {
  type: 'object',
  properties: { is_error: { type: 'boolean' }, text, result: { type: 'object' } },
  required: ['is_error', 'text', 'result'],
};
const json = (schema: object) => ({ content: { 'application/json': { schema } } });
const failed = (description: string) => ({ description, ...json({ $ref: '#/components/schemas/Failure' }) });

const refusals = {
  400: failed('The request, or its cwd, is not valid.'),
  401: failed('There is no valid token.'),
  403: failed('Host, Origin, directory or program are not allowed.'),
  413: failed('The body is longer than 1 MiB.'),
  415: failed('The body is not JSON.'),
  429: failed('Too many calls wait already; Retry-After says when to come again.'),
};
const shellFailures = {
  ...refusals,
  408: failed('The command timed out; stdout and stderr have what it wrote until then.'),
  500: failed('There is no such program, or it wrote more than the limit.'),
};

/** What the document tells of. */
export interface Described {
  readonly version: string;
  readonly callers: { readonly own: { readonly tools: readonly Tool[] } };
  readonly sites: { address(): string };
}

/** This door as an OpenAPI 3.1 document, made of the schemas that requests are checked with. */
export function toOpenApi({ version, callers, sites }: Described) {
  const tools = callers.own.tools.map(({ name, title, description, inputSchema }) => [
    `/api/tools/${name}`,
    {
      post: operation(
        title,
        inputSchema(),
        { 200: { description: 'What the tool says.', ...json(toolReply) }, ...refusals },
        description,
      ),
    },
  ]);
  return {
    openapi: '3.1.0',
    info: { title: 'nacre', version, description: 'Runs programs and shell commands.' },
    servers: [{ url: sites.address() }],
    security: [{ token: [] }],
    components: {
      securitySchemes: { token: { type: 'http', scheme: 'bearer' } },
      schemas: { Failure: failure },
    },
    paths: {
      '/api/shell': {
        post: operation('Run a program without a shell', toSchema(shellRequest), {
          200: { description: 'What the program came to, whatever its exit code.', ...json(shellReply) },
          ...shellFailures,
        }),
      },
      '/api/shell/stream': look('Stream commands over a WebSocket', '101'),
      '/api/tools': look('List the tools'),
      ...Object.fromEntries(tools),
      '/api/state': look('What runs, what ran lately, and the applets'),
      '/api/link': {
        post: {
          summary: 'Make a one-time link to the start page',
          responses: { 200: { description: 'The link.' } },
        },
      },
      '/mcp': {
        post: {
          summary: 'MCP over Streamable HTTP',
          responses: { 200: { description: 'A message of MCP.' } },
        },
      },
      '/metrics': look("Figures in Prometheus' text format"),
      '/healthz': { ...look('Whether the server lives'), security: [] },
      '/readyz': { ...look('Whether it takes calls'), security: [] },
    },
  };
}

function operation(summary: string, schema: object, responses: object, description?: string): object {
  return {
    summary,
    ...(description !== undefined && { description }),
    requestBody: { required: true, ...json(schema) },
    responses,
  };
}

function look(summary: string, status = '200'): object {
  return { get: { summary, responses: { [status]: { description: summary } } } };
}

function toSchema(schema: z.ZodType): object {
  const { $schema: _dialect, ...rest } = z.toJSONSchema(schema, { io: 'input', target: 'draft-2020-12' });
  return rest;
}
