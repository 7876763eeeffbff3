import { defineSettings } from '../settings/define.ts';
import { s } from '../settings/schema.ts';

/** Flags that every subcommand accepts in addition to the settings. */
export const sharedFlags = defineSettings({
  help: s
    .boolean()
    .default(false)
    .meta({ flag: ['--help', '-h'], description: 'Show this help.' }),
  all: s
    .boolean()
    .default(false)
    .meta({ flag: '--all', description: 'With --help: also list the flags of all settings.' }),
  config: s
    .text()
    .min(1)
    .optional()
    .meta({ flag: '--config', description: "Settings file to use instead of the user's.", path: true }),
});

/** The type of `sharedFlags`. */
export type SharedFlags = typeof sharedFlags;
