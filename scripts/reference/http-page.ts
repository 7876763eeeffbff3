import { z } from 'zod';
import { toOpenApi } from '../../src/doors/http/open-api.ts';
import { clientMessages } from '../../src/doors/http/stream/messages.ts';
import { version } from '../../src/version.ts';
import { describeTools } from './describe-tools.ts';
import { code, table } from './markdown.ts';
import { type Schema, toRows } from './schema-rows.ts';

interface Operation {
  readonly summary: string;
  readonly requestBody?: { readonly content: { readonly 'application/json': { readonly schema: Schema } } };
  readonly responses: Readonly<Record<string, { readonly description: string; readonly content?: Content }>>;
}
interface Content {
  readonly 'application/json': { readonly schema: Schema };
}

/** docs/reference/http.md, from the document that the server itself gives at /openapi.json. */
export function toHttpPage(): string {
  const tools = Object.values(describeTools()).flat();
  const { paths } = toOpenApi({
    version,
    callers: { own: { tools } },
    sites: { address: () => 'http://127.0.0.1:7433' },
  });
  const operations = Object.entries(paths as Readonly<Record<string, Readonly<Record<string, Operation>>>>)
    .filter(([path]) => !path.startsWith('/api/tools/'))
    .flatMap(([path, methods]) =>
      Object.entries(methods)
        .filter(([method]) => method !== 'security')
        .map(([method, operation]) => toSection(`${method.toUpperCase()} ${path}`, operation)),
    );
  return `${[introduction, ...operations, toolsSection, ...streamSection()].join('\n\n')}\n`;
}

const introduction = `# HTTP

<!-- Written by scripts/generate-docs.mjs from the schemas that requests are checked with. -->

\`nacre serve\` answers at \`http://127.0.0.1:7433\`; [nacre over HTTP](../guide/http.md) tells how to use it, and
\`GET /openapi.json\` gives this page as OpenAPI 3.1. Everything but \`/healthz\` and \`/readyz\` needs
\`Authorization: Bearer TOKEN\` or the cookie of a page. What is refused has a body with \`error\`, and mostly \`hint\` and
\`reason\`: [errors](errors.md).`;

function toSection(title: string, { summary, requestBody, responses }: Operation): string {
  const fields = requestBody ? toRows(requestBody.content['application/json'].schema) : [];
  const answers = Object.entries(responses).map(([status, { description, content }]) => [
    status,
    description,
    status.startsWith('2') ? fieldsOf(content) : '',
  ]);
  return [
    `## ${title}`,
    `${summary}.`,
    ...(fields.length === 0 ? [] : [table(['field', 'type', 'unset', 'meaning'], fields)]),
    table(['status', 'meaning', 'body'], answers),
  ].join('\n\n');
}

function fieldsOf(content: Content | undefined): string {
  return Object.keys(content?.['application/json'].schema.properties ?? {})
    .map(code)
    .join(', ');
}

const toolsSection = `## POST /api/tools/NAME

Calls one of [the tools](tools.md) with its input as the body. The answer has status 200 also where the tool failed, with
\`is_error\`, \`text\` (what a model reads) and \`result\` (the same as data).`;

function streamSection(): string[] {
  const messages = Object.entries(clientMessages).map(([type, schema]) => {
    const rows = toRows(z.toJSONSchema(schema, { io: 'input' }) as unknown as Schema);
    return `### ${type}\n\n${table(['field', 'type', 'unset', 'meaning'], rows)}`;
  });
  const answers =
    'The server answers with `shell.start`, `shell.stdout`, `shell.stderr`, `shell.awaiting_input`, `shell.exit` and `shell.error`, each with the `id` of the command; `cursor` counts the bytes of output told so far.';
  return [
    `## Messages of /api/shell/stream\n\nEach message is a JSON object with \`type\` and these fields. ${answers}`,
    ...messages,
  ];
}
