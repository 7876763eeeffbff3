import { defineSettings } from '../settings/define.ts';
import { s } from '../settings/schema.ts';

/** Settings of recordings. */
export const recordingSettings = defineSettings({
  record: s.boolean().default(false).meta({
    env: 'NACRE_RECORD',
    flag: '--record',
    description: "Records every command's output with its timing, for nacre replay.",
  }),
  recordMaxBytes: s.int().min(1_048_576).max(1_099_511_627_776).default(1_073_741_824).meta({
    env: 'NACRE_RECORD_MAX_BYTES',
    flag: '--record-max-bytes',
    description: 'Total bytes of recordings; the oldest are deleted first, never one that is being written.',
  }),
});
