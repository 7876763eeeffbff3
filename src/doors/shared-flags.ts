import { z } from 'zod';
import { defineSettings } from '../settings/define.ts';

/** Flags that every subcommand accepts in addition to the settings. */
export const sharedFlags = defineSettings({
  help: z
    .boolean()
    .default(false)
    .meta({ flag: ['--help', '-h'], description: 'Show this help.' }),
  all: z
    .boolean()
    .default(false)
    .meta({ flag: '--all', description: 'With --help: also list the flags of all settings.' }),
  config: z
    .string()
    .min(1)
    .optional()
    .meta({ flag: '--config', description: "Settings file to use instead of the user's.", path: true }),
});

/** The type of `sharedFlags`. */
export type SharedFlags = typeof sharedFlags;
