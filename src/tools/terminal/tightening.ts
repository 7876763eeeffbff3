import { z } from 'zod';
import { sandboxNames } from '../../contract/isolation.ts';
import type { CommandRequest } from '../../contract/request.ts';

const bytes = (min: number) => z.int().min(min).max(1_125_899_906_842_624).optional();

/** The fields with which a call asks for more isolation and for less of the machine than the settings grant. */
export const tightening = {
  sandbox: z
    .enum(sandboxNames)
    .optional()
    .describe(
      'Only stricter than the settings. workspace: writes only in the working directory and no network; strict: also hides the home directory',
    ),
  limits: z
    .strictObject({
      memory_bytes: bytes(16_777_216),
      tree_memory_bytes: bytes(16_777_216),
      max_processes: z.int().min(4).max(4_194_304).optional(),
      cpu_seconds: z.int().min(1).max(31_536_000).optional(),
      file_bytes: bytes(1_024),
    })
    .optional()
    .describe('Only lower than the settings. memory, CPU and file: of each process; tree_memory: of all'),
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
