import { z } from 'zod';
import { defineSettings } from '../settings/define.ts';

/** The flags that every command takes beside those of the settings. */
export const sharedFlags = defineSettings({
  help: z
    .boolean()
    .default(false)
    .meta({ flag: ['--help', '-h'], description: 'Show this help.' }),
  config: z
    .string()
    .min(1)
    .optional()
    .meta({ flag: '--config', description: "Settings file in place of the user's.", path: true }),
});
