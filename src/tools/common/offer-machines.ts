import type { OfferedMachine } from '../../contract/machine.ts';
import { fromModel } from './define-tool.ts';
import type { Tool, ToolSchema } from './tool.ts';

/** A tool whose input has the field `on`, if there is more than one machine to choose from. */
export function offerMachines(tool: Tool, machines: readonly OfferedMachine[], defaultName: string): Tool {
  if (!tool.choosesMachine || machines.length < 2) return tool;
  return {
    ...tool,
    inputSchema: () => addField(tool.inputSchema(), toField(machines, defaultName)),
    call(input, context) {
      const args = fromModel(tool.inputSchema(), input);
      if (typeof args !== 'object' || args === null || !('on' in args)) return tool.call(input, context);
      const { on, ...rest } = args;
      // The engine refuses a name that this caller may not use, and names the others.
      const name = typeof on === 'string' ? on : JSON.stringify(on);
      return tool.call(rest, { ...context, on: on === null ? undefined : name });
    },
  };
}

function addField(schema: ToolSchema, field: Readonly<Record<string, unknown>>): ToolSchema {
  const { properties = {} } = schema as { properties?: Readonly<Record<string, unknown>> };
  return { ...schema, properties: { ...properties, on: field } };
}

function toField(
  machines: readonly OfferedMachine[],
  defaultName: string,
): Readonly<Record<string, unknown>> {
  const lines = machines.flatMap(({ name, description }) => (description ? `${name}: ${description}` : []));
  return {
    type: 'string',
    enum: machines.map(({ name }) => name),
    description: [`The machine to run on; ${defaultName} by default`, ...lines].join('\n'),
  };
}
