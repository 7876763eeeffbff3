import { z } from 'zod';
import { defineSettings } from '../settings/define.ts';

/** Whether what commands print is kept, to be played again. */
export const recordingSettings = defineSettings({
  record: z.boolean().default(false).meta({
    env: 'NACRE_RECORD',
    flag: '--record',
    description: "Whether every command's output is kept with its timing, for nacre replay.",
  }),
});
