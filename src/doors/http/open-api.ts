import { z } from 'zod';
import type { Tool } from '../../tools/common/tool.ts';
import { changesRequest } from './endpoints/changes-endpoint.ts';
import { shellRequest } from './endpoints/shell-endpoint.ts';
import { clientMessages, serverMessages } from './stream/messages.ts';
import { toExample } from './to-example.ts';

const text = { type: 'string' } as const;
const shellReply = {
  type: 'object',
  properties: {
    stdout: text,
    stderr: text,
    code: { type: 'integer', description: 'The exit code; 128 + N if signal N ended the program.' },
    signal: text,
    id: text,
    duration_ms: { type: 'integer' },
    truncated: { type: 'boolean' },
    warnings: {
      type: 'array',
      items: text,
      description: 'Notes on the run, such as that its sandbox has no network.',
    },
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
  401: failed('The token is missing or not valid.'),
  403: failed('The Host, Origin, directory or program is not allowed.'),
  413: failed('The body is longer than 1 MiB.'),
  415: failed('The Content-Type is not application/json.'),
  429: failed('Too many calls are waiting; Retry-After says when to retry.'),
};
const shellFailures = {
  ...refusals,
  408: failed('The command timed out; stdout and stderr have its output so far.'),
  500: failed('There is no such program, or its output exceeded the limit.'),
};

/** The part of the server that `toOpenApi` describes. */
export interface OpenApiSource {
  readonly version: string;
  readonly callers: { readonly own: { readonly tools: readonly Tool[] } };
  readonly sites: { address(): string };
}

/** The HTTP API as an OpenAPI 3.1 document, made from the schemas that validate requests. */
export function toOpenApi({ version, callers, sites }: OpenApiSource) {
  const tools = callers.own.tools.map(({ name, title, description, inputSchema }) => [
    `/api/tools/${name}`,
    {
      post: operation(
        title,
        inputSchema(),
        { 200: { description: 'The reply of the tool.', ...json(toolReply) }, ...refusals },
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
          200: { description: 'The output and exit code of the program.', ...json(shellReply) },
          ...shellFailures,
        }),
      },
      '/api/shell/stream': {
        ...view('Stream commands over a WebSocket', '101'),
        // OpenAPI has no messages; tools ignore fields that begin with x-.
        'x-messages': { client: toMessages(clientMessages), server: toMessages(serverMessages) },
      },
      '/api/changes': view('List the changes of commands that are held or can be undone'),
      '/api/changes/{id}': withId(view('Show the changes of a command')),
      ...Object.fromEntries(
        (['apply', 'discard', 'undo'] as const).map((action) => [
          `/api/changes/{id}/${action}`,
          withId({ post: operation(changesSummaries[action], toSchema(changesRequest), done) }),
        ]),
      ),
      '/api/tools': view('List the tools'),
      ...Object.fromEntries(tools),
      ...consolePaths,
      '/api/link': {
        post: {
          summary: 'Create a one-time link to the console: role (operator or viewer) and name',
          responses: { 200: { description: 'The link.' } },
        },
      },
      '/mcp': {
        post: {
          summary: 'MCP over Streamable HTTP',
          parameters: [
            {
              name: 'Accept',
              in: 'header',
              required: true,
              schema: text,
              example: 'application/json, text/event-stream',
            },
          ],
          requestBody: {
            required: true,
            content: { 'application/json': { schema: { type: 'object' }, example: initialize } },
          },
          responses: { 200: { description: 'An MCP message.' } },
        },
      },
      '/metrics': view('Metrics in the Prometheus text format'),
      '/healthz': { ...view('Liveness of the server'), security: [] },
      '/readyz': { ...view('Readiness for calls'), security: [] },
    },
  };
}

const consolePaths = {
  '/api/now': view('What runs, what waits for approval, what failed, the agents and the servers'),
  '/api/commands': view('List commands: q, agent, program, outcome, cwd, since, after, limit'),
  '/api/commands/{id}': view('One command: its card, its records, and where its output is'),
  '/api/commands/{id}/output': view(
    'Its output: as bytes (from, to, stream), or as a file (download=raw, download=text, or download=cast for asciicast)',
  ),
  '/api/commands/{id}/stop': act('Stop a command'),
  '/api/commands/{id}/type': act('Type into a command: text, keys, secret, eof'),
  '/api/agents': view('List agents: after'),
  '/api/agents/{key}': view('One agent, with the commands of its session'),
  '/api/approvals': view('What waits for approval, and what was answered'),
  '/api/approvals/{id}': act('Answer a request: answer, the digest that was shown, and a note'),
  '/api/series': view('Figures over time, of the server or of one command'),
  '/api/server': view('Servers, settings, places and applets'),
  '/api/pages': view('List the pages that are signed in'),
  '/api/pages/{id}': {
    delete: { summary: 'Sign a page out', responses: { 204: { description: 'Signed out.' } } },
  },
  '/api/audit': view('List records: kind, id, q, before, limit'),
  '/api/audit/verify': view('Check that the chain of records is whole'),
  '/api/audit/export': view('The newest records as JSON lines'),
  '/api/pause': act('Pause or resume every server: paused'),
  '/api/session': {
    delete: { summary: 'Sign this page out', responses: { 204: { description: 'Signed out.' } } },
  },
  '/api/console': view('What the console shows, live, over a WebSocket', '101'),
};

const initialize = {
  jsonrpc: '2.0',
  id: 1,
  method: 'initialize',
  params: { protocolVersion: '2025-11-25', capabilities: {}, clientInfo: { name: 'curl', version: '1' } },
};

function operation(summary: string, schema: object, responses: object, description?: string): object {
  const content = { 'application/json': { schema, example: toExample(schema) } };
  return {
    summary,
    ...(description !== undefined && { description }),
    requestBody: { required: true, content },
    responses,
  };
}

function view(summary: string, status = '200'): object {
  return { get: { summary, responses: { [status]: { description: summary } } } };
}

function act(summary: string): object {
  return { post: { summary, responses: { 200: { description: summary } } } };
}

function toMessages(messages: Readonly<Record<string, z.ZodType>>): object {
  return Object.fromEntries(
    Object.entries(messages).map(([type, fields]) => {
      const schema = toSchema(fields);
      return [type, { schema, example: { type, ...toExample(schema) } }];
    }),
  );
}

function toSchema(schema: z.ZodType): object {
  const { $schema: _dialect, ...rest } = z.toJSONSchema(schema, { io: 'input', target: 'draft-2020-12' });
  return rest;
}

const changesSummaries = {
  apply: 'Apply held changes',
  discard: 'Forget held changes',
  undo: 'Restore the files from before a command',
};
const done = { 200: { description: 'The changed paths, and the state of the changes afterwards.' } };

function withId(path: object): object {
  return { ...path, parameters: [{ name: 'id', in: 'path', required: true, schema: { type: 'string' } }] };
}
