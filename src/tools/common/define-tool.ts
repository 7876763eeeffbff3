// A tool call: 1. `fromModel` normalises what the model wrote, 2. `receive` validates it against the zod schema,
// 3. `run` does the work and returns a reply, 4. `fail` turns anything thrown on the way into a reply.
import { z } from 'zod';
import { fromModel, receive } from './receive.ts';
import type { Tool, ToolAnnotations, ToolContext, ToolReply, ToolSchema } from './tool.ts';

/** Declaration of a tool. */
export interface ToolDeclaration<Input extends z.ZodObject> {
  readonly name: string;
  readonly title: string;
  readonly description: string;
  readonly annotations: ToolAnnotations;
  readonly input: Input;
  readonly output: z.ZodObject;
  run(input: z.output<Input>, context: ToolContext): Promise<ToolReply>;
  /** Turns an error thrown by `receive` or `run` into a reply in the family's format. */
  fail(error: unknown): ToolReply;
}

/** Creates a tool from its declaration: derives the schemas, validates input, and replies to every failure. */
export function defineTool<Input extends z.ZodObject>(declaration: ToolDeclaration<Input>): Tool {
  const { name, title, description, annotations, input, output } = declaration;
  let cached: ToolSchema | undefined;
  const inputSchema = () => {
    cached ??= toJsonSchema(input, 'input');
    return cached;
  };
  return {
    name,
    title,
    description,
    annotations,
    inputSchema,
    outputSchema: () => toJsonSchema(output, 'output'),
    async call(raw, context) {
      try {
        return await declaration.run(receive(name, input, fromModel(inputSchema(), raw)), context);
      } catch (error) {
        return declaration.fail(error);
      }
    },
  };
}

// Drops `$schema`: MCP clients assume 2020-12 anyway, and the URL costs tokens.
function toJsonSchema(schema: z.ZodObject, io: 'input' | 'output'): ToolSchema {
  const options = { io, target: 'draft-2020-12', override } as const;
  const { $schema: _dialect, ...rest } = z.toJSONSchema(schema, options);
  return { properties: {}, ...rest, type: 'object' };
}

// Schemas are part of a model's context, so drop keywords that do not help it; `receive` still enforces `maxLength`.
function override({ jsonSchema }: { readonly jsonSchema: z.core.JSONSchema.BaseSchema }): void {
  delete jsonSchema.maxLength;
  delete jsonSchema.propertyNames;
  const { additionalProperties } = jsonSchema;
  if (typeof additionalProperties === 'object' && Object.keys(additionalProperties).length === 0)
    delete jsonSchema.additionalProperties;
}
