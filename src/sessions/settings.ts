import { defineSettings } from '../settings/define.ts';
import { s } from '../settings/schema.ts';

/** Limits on running and ended commands. */
export const sessionSettings = defineSettings({
  tombstoneSeconds: s.int().min(1).max(604_800).default(3_600).meta({
    env: 'NACRE_TOMBSTONE_SECONDS',
    flag: '--tombstone-seconds',
    description: 'How long the result and output of an ended command stay readable.',
  }),
  maxRunning: s.int().min(1).max(10_000).default(64).meta({
    env: 'NACRE_MAX_RUNNING',
    flag: '--max-running',
    description: 'Commands that may run at the same time.',
    project: 'lower',
  }),
});
