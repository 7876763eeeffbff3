import { NacreError } from '../../contract/failure.ts';
import type { ToolResult } from '../../contract/tool-result.ts';
import { didYouMean } from '../../settings/nearest.ts';
import { fromModel } from '../../tools/common/define-tool.ts';
import type { ExecutionContext } from './execution-context.ts';
import type { FunctionTool } from './function-tool.ts';
import { type SchemaOptions, toVendorSchemas, type Vendor, type VendorSchemas } from './vendor-schemas.ts';

/** Tools by name: `getAllSchemas` describes them to a model, `execute` runs the calls it makes. */
export class ToolRegistry {
  readonly #tools = new Map<string, FunctionTool>();

  /** Adds a tool; throws `invalid_request` if another one has its name, or the name is invalid for the vendors. */
  register(tool: FunctionTool): this {
    const { name } = tool;
    if (!validName.test(name))
      throw invalidTool(`${JSON.stringify(name)} is not a valid tool name.`, nameHint);
    const existing = this.#tools.get(name);
    if (existing !== undefined && existing !== tool)
      throw invalidTool(`Another tool ${name} is already registered.`, 'Unregister it, or use another name.');
    this.#tools.set(name, tool);
    return this;
  }

  /** Whether a tool has that name. */
  has(name: string): boolean {
    return this.#tools.has(name);
  }

  /** Removes the tool with that name; returns whether there was one. */
  unregister(name: string): boolean {
    return this.#tools.delete(name);
  }

  /** Returns the tool with that name. */
  get(name: string): FunctionTool | undefined {
    return this.#tools.get(name);
  }

  /** Lists all tools, or those of one category, in the order of registration. */
  list(category?: string): readonly FunctionTool[] {
    const all = [...this.#tools.values()];
    return category === undefined ? all : all.filter((tool) => tool.category === category);
  }

  /** Converts all tools into a vendor's format. */
  getAllSchemas<V extends Vendor>(vendor: V, options: SchemaOptions = {}): VendorSchemas[V] {
    return toVendorSchemas(vendor, this.list(), options);
  }

  /** Runs a tool call of a model; an unknown name is a failed result, so that the model can read it. */
  async execute(name: string, input: unknown, context?: ExecutionContext): Promise<ToolResult> {
    const tool = this.#tools.get(name);
    if (tool === undefined) return this.#unknown(name);
    return tool.run(fromModel(tool.inputSchema(), input), context);
  }

  #unknown(name: string): ToolResult {
    const known = [...this.#tools.keys()];
    const suggestion = didYouMean(name, known) || ` Tools: ${known.join(', ')}.`;
    const error = `There is no tool ${JSON.stringify(name)}.${suggestion}`;
    return { success: false, output: '', error, metadata: {} };
  }
}

const validName = /^[A-Za-z_][A-Za-z0-9_-]{0,63}$/;
const nameHint = 'Use at most 64 letters, digits, _ and -, starting with a letter or _.';

function invalidTool(message: string, hint: string): NacreError {
  return new NacreError('invalid_request', message, { hint });
}
