import { NacreError } from '../../contract/failure.ts';
import type { ToolResult } from '../../contract/tool-result.ts';
import { didYouMean } from '../../settings/nearest.ts';
import { fromModel } from '../../tools/from-model.ts';
import type { ExecutionContext } from './execution-context.ts';
import type { FunctionTool } from './function-tool.ts';
import { type SchemaOptions, toVendorSchemas, type Vendor, type VendorSchemas } from './schemas/vendors.ts';

/** Tools by name, for a model that is offered them and a program that calls them on its behalf. */
export class ToolRegistry {
  readonly #tools = new Map<string, FunctionTool>();

  /** Adds a tool; a name that no vendor would take, or that is taken already, is refused. */
  register(tool: FunctionTool): this {
    const { name } = tool;
    if (!validName.test(name)) throw refused(`${JSON.stringify(name)} is no tool's name.`, howToName);
    if (this.#tools.has(name)) throw refused(`There is a tool ${name} already.`, 'Give each its own name.');
    this.#tools.set(name, tool);
    return this;
  }

  /** The tool of that name. */
  get(name: string): FunctionTool | undefined {
    return this.#tools.get(name);
  }

  /** Every tool, or those of one category, in the order in which they were registered. */
  list(category?: string): readonly FunctionTool[] {
    const all = [...this.#tools.values()];
    return category === undefined ? all : all.filter((tool) => tool.category === category);
  }

  /** Every tool as a vendor's API takes it. */
  getAllSchemas<V extends Vendor>(vendor: V, options: SchemaOptions = {}): VendorSchemas[V] {
    return toVendorSchemas(vendor, this.list(), options);
  }

  /** Calls a tool with what a model wrote; a name that does not exist is a failed result as well, for the model to read. */
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
const howToName = 'Use up to 64 letters, digits, _ and -, and begin with a letter or _.';

function refused(message: string, hint: string): NacreError {
  return new NacreError('invalid_request', message, { hint });
}
