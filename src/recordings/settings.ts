import { z } from 'zod';
import { defineSettings } from '../settings/define.ts';

/** Whether what commands print is kept, to be played again. */
export const recordingSettings = defineSettings({
  record: z.boolean().default(false).meta({
    env: 'NACRE_RECORD',
    flag: '--record',
    description: "Whether every command's output is kept with its timing, for nacre replay.",
  }),
  recordMaxBytes: z.int().min(1_048_576).max(1_099_511_627_776).default(1_073_741_824).meta({
    env: 'NACRE_RECORD_MAX_BYTES',
    flag: '--record-max-bytes',
    description: 'Bytes of recordings that are kept; the oldest go first, and none that is being written.',
  }),
});
