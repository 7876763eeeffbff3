import { firstNacre } from './first-nacre.ts';
import type { ToolRegistry } from './tool-registry.ts';

/** Registers the tools that run commands: those of the first nacre in this process, or of one with default settings. */
export function registerExecutionTools(registry: ToolRegistry): ToolRegistry {
  for (const tool of firstNacre().executionTools) registry.register(tool);
  return registry;
}
