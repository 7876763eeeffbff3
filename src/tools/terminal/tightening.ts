import { z } from 'zod';
import { sandboxNames } from '../../contract/isolation.ts';
import type { CommandRequest } from '../../contract/request.ts';

// What is less than this lets nothing run.
const least = {
  memory_bytes: 16_777_216,
  tree_memory_bytes: 16_777_216,
  max_processes: 4,
  cpu_seconds: 1,
  file_bytes: 1_024,
} as const;
const names = Object.keys(least) as (keyof typeof least)[];

/** The fields with which a call asks for more isolation and for less of the machine than the settings grant. */
export const tightening = {
  sandbox: z
    .enum(sandboxNames)
    .optional()
    .describe(
      'Only stricter than the settings. workspace: writes only below cwd, no network; strict: also hides the home',
    ),
  // A map takes half the room of an object in what models read.
  limits: z
    .partialRecord(z.enum(names), z.int().min(1).max(1_125_899_906_842_624))
    .superRefine((given, context) => {
      for (const name of names) {
        if ((given[name] ?? least[name]) < least[name]) {
          context.addIssue({ code: 'custom', path: [name], message: `must be at least ${least[name]}` });
        }
      }
    })
    .optional()
    .describe('Only lower than the settings; tree_memory_bytes is for all processes together'),
};

type Asked = z.output<z.ZodObject<typeof tightening>>;

/** The same in the words of every door. */
export function toTightening({ sandbox, limits }: Asked): Pick<CommandRequest, 'sandbox' | 'limits'> {
  if (limits === undefined) return { sandbox };
  return {
    sandbox,
    limits: {
      memoryBytes: limits.memory_bytes,
      treeMemoryBytes: limits.tree_memory_bytes,
      maxProcesses: limits.max_processes,
      cpuSeconds: limits.cpu_seconds,
      fileBytes: limits.file_bytes,
    },
  };
}
