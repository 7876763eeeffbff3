import { z } from 'zod';
import { defineSettings } from '../settings/define.ts';

/** The tool families there are. */
export const toolFamilies = ['terminal', 'bash'] as const;

/** The name of one tool family. */
export type ToolFamily = (typeof toolFamilies)[number];

/** Which tools are offered. */
export const toolSettings = defineSettings({
  tools: z
    .array(z.enum([...toolFamilies, 'all']))
    .min(1)
    .default(['terminal'])
    .meta({
      env: 'NACRE_TOOLS',
      flag: '--tools',
      description: 'Tool families to offer; all offers every one.',
      everything: 'all',
      project: 'intersect',
    }),
});

/** The families that the setting names, each once, in the order of `toolFamilies`. */
export function toFamilies(tools: readonly (ToolFamily | 'all')[]): ToolFamily[] {
  return toolFamilies.filter((family) => tools.includes('all') || tools.includes(family));
}
