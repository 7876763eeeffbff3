import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import type { Greeting } from '../doors/door.ts';
import { type Resolved, rulesForFamily } from '../rules/rules-for.ts';
import { timeLimitsFor } from '../rules/time-limits-for.ts';
import type { Patience } from '../tools/common/time-limits.ts';
import type { Tool, ToolData } from '../tools/common/tool.ts';
import { type ToolFamily, toFamilies } from '../tools/settings.ts';
import { createInstructions, type ToolSources } from './create-instructions.ts';

/** The tools of a family as the build wrote them; `key` has everything that they depend on. */
export interface ListedFamily {
  readonly key: string;
  readonly tools: readonly ToolData[];
}

/** The name of the file that the build writes for a family and a client's patience. */
export function listedFile(family: ToolFamily, patience: Patience): string {
  return `listed-tools-${family}-${patience}.json`;
}

/** A text that differs whenever the tools of a family do. */
export function listedKey(family: ToolFamily, resolved: Resolved, patience: Patience): string {
  const { maxOutputChars, onTimeout } = resolved.values;
  return JSON.stringify([timeLimitsFor(family, resolved, patience), maxOutputChars, onTimeout]);
}

/** Prepares the replies to the first requests of an MCP client; undefined if they depend on more than the settings. */
export function createGreeting(sources: ToolSources): Greeting | undefined {
  const { values } = sources.settings.now();
  // The schemas of tools list the machines, which the build does not know.
  if (Object.keys(values.machines).length > 0) return undefined;
  if (values.toolPrefix !== '' || values.sandbox !== 'off' || values.networkAllow.length > 0)
    return undefined;
  const families = toFamilies(values.tools);
  const ruled = families.map((family) => ({
    family,
    rulesNow: (resolved: Resolved) => rulesForFamily(family, resolved),
  }));
  return {
    reply: values.reply,
    instructions: createInstructions(sources, ruled),
    list(patience) {
      const lists = families.map((family) => readListed(family, sources.settings.now(), patience));
      return lists.some((list) => list === undefined) ? undefined : lists.flatMap((list) => list ?? []);
    },
  };
}

function readListed(
  family: ToolFamily,
  resolved: Resolved,
  patience: Patience,
): readonly Omit<Tool, 'call'>[] | undefined {
  try {
    const path = fileURLToPath(new URL(`./${listedFile(family, patience)}`, import.meta.url));
    const listed: ListedFamily = JSON.parse(readFileSync(path, 'utf8'));
    return listed.key === listedKey(family, resolved, patience) ? listed.tools.map(toTool) : undefined;
  } catch {
    // nacre runs from its sources, without built files: the tools have to be created.
    return undefined;
  }
}

function toTool({ inputSchema, outputSchema, ...tool }: ToolData): Omit<Tool, 'call'> {
  return { ...tool, inputSchema: () => inputSchema, outputSchema: () => outputSchema };
}
