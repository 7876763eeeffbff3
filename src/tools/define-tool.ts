import { z } from 'zod';
import type { Caller } from '../contract/caller.ts';
import type { AskPerson } from '../engine/approval.ts';
import type { Progress } from '../engine/progress.ts';
import { receive } from './receive.ts';

/** The side of the caller that a tool needs. */
export interface ToolContext {
  readonly caller: Caller;
  /** Puts a question to the person behind the client, where that can be done. */
  readonly askPerson?: AskPerson | undefined;
  /** Directories that the client offers as its workspace. */
  readonly workspace?: readonly string[] | undefined;
  readonly signal?: AbortSignal | undefined;
  readonly onProgress?: ((progress: Progress) => void) | undefined;
}

/** What a tool answers: text for the model, the same as data, and whether the call itself failed. */
export interface ToolReply {
  readonly text: string;
  readonly structured: Readonly<Record<string, unknown>>;
  readonly isError: boolean;
  /** What machines may want to know beside it, such as what was enforced. */
  readonly meta?: Readonly<Record<string, unknown>> | undefined;
}

/** What clients may assume about a tool. */
export interface ToolAnnotations {
  readonly readOnlyHint: boolean;
  readonly destructiveHint: boolean;
  readonly idempotentHint: boolean;
  readonly openWorldHint: boolean;
}

/** A tool as every door offers it; its input has not been checked yet. */
export interface Tool {
  readonly name: string;
  readonly title: string;
  readonly description: string;
  readonly annotations: ToolAnnotations;
  inputSchema(): JsonSchema;
  outputSchema(): JsonSchema;
  /** Answers any input: what is wrong with it is a reply too. */
  call(input: unknown, context: ToolContext): Promise<ToolReply>;
}

/** A JSON Schema (2020-12) as data. */
export type JsonSchema = { readonly type: 'object' } & Readonly<Record<string, unknown>>;

/** How a tool is declared. */
export interface ToolDeclaration<Input extends z.ZodObject> {
  readonly name: string;
  readonly title: string;
  readonly description: string;
  readonly annotations: ToolAnnotations;
  readonly input: Input;
  readonly output: z.ZodObject;
  run(input: z.output<Input>, context: ToolContext): Promise<ToolReply>;
  /** Turns what kept the tool from running into its family's own words. */
  fail(error: unknown): ToolReply;
}

/** Declares a tool: schemas derived once, input checked, every failure answered. */
export function defineTool<Input extends z.ZodObject>(declaration: ToolDeclaration<Input>): Tool {
  const { name, title, description, annotations, input, output } = declaration;
  return {
    name,
    title,
    description,
    annotations,
    inputSchema: () => toJsonSchema(input, 'input'),
    outputSchema: () => toJsonSchema(output, 'output'),
    async call(raw, context) {
      try {
        return await declaration.run(receive(name, input, raw), context);
      } catch (error) {
        return declaration.fail(error);
      }
    },
  };
}

// Clients of 2020-12 take the schema as it is; the dialect's address only costs room, and some reject an older one.
function toJsonSchema(schema: z.ZodObject, io: 'input' | 'output'): JsonSchema {
  const { $schema: _dialect, ...rest } = z.toJSONSchema(schema, { io, target: 'draft-2020-12' });
  return { properties: {}, ...rest, type: 'object' };
}
