import { z } from 'zod';
import type { Caller } from '../contract/caller.ts';
import type { ToolResult } from '../contract/tool-result.ts';
import type { RunContext } from '../engine/run.ts';
import type { CallPlace } from './allowed-run.ts';
import { fromModel } from './from-model.ts';
import { receive } from './receive.ts';

/** The side of the caller that a tool needs. */
export interface ToolContext
  extends CallPlace,
    Pick<RunContext, 'askPerson' | 'workspace' | 'dryRun' | 'signal' | 'onProgress' | 'onOutput'> {
  readonly caller: Caller;
  /** Whose shells and commands the call can see. */
  readonly owner: string;
  /** The session of the protocol in which the call came, where there are several of one owner: its persistent shells are its own. */
  readonly connection?: string | undefined;
  /** Who reads output, where that is not the owner: has seen of it what it was told itself. */
  readonly reader?: string | undefined;
  /** The persistent shell that the caller means where it names none. */
  readonly session?: string | undefined;
}

/** What a tool answers: text for the model, the same as data, and whether the call itself failed. */
export interface ToolReply {
  readonly text: string;
  readonly structured: Readonly<Record<string, unknown>>;
  readonly isError: boolean;
  /** What machines may want to know beside it, such as what was enforced. */
  readonly meta?: Readonly<Record<string, unknown>> | undefined;
  /** Texts that follow the first one. */
  readonly moreTexts?: readonly string[] | undefined;
  /** The id of a command of whose output something was left out and can be read elsewhere. */
  readonly logOf?: string | undefined;
  /** The same for a program in this process, where output and error stand apart; else it is made of the reply. */
  readonly result?: ToolResult | undefined;
  /** The same in the words of a specification that has its own form for programs. */
  readonly ownResult?: object | undefined;
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
  let known: JsonSchema | undefined;
  const inputSchema = () => {
    known ??= toJsonSchema(input, 'input');
    return known;
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

// Clients of 2020-12 take the schema as it is; the dialect's address only costs room, and some reject an older one.
function toJsonSchema(schema: z.ZodObject, io: 'input' | 'output'): JsonSchema {
  const options = { io, target: 'draft-2020-12', override } as const;
  const { $schema: _dialect, ...rest } = z.toJSONSchema(schema, options);
  return { properties: {}, ...rest, type: 'object' };
}

// Every word of a schema costs a model's context: what no model comes near, and what says nothing, is left to our check.
function override({ jsonSchema }: { readonly jsonSchema: z.core.JSONSchema.BaseSchema }): void {
  delete jsonSchema.maxLength;
  delete jsonSchema.propertyNames;
  const { additionalProperties } = jsonSchema;
  if (typeof additionalProperties === 'object' && Object.keys(additionalProperties).length === 0)
    delete jsonSchema.additionalProperties;
}
