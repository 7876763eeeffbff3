import { z } from 'zod';
import { defineSettings } from '../settings/define.ts';

/** The `max_output_chars` setting. */
export const outputSettings = defineSettings({
  maxOutputChars: z.int().min(1).max(200_000).default(30_000).meta({
    env: 'NACRE_MAX_OUTPUT_CHARS',
    flag: '--max-output-chars',
    description: 'Characters of output in one reply, stdout and stderr together.',
    project: 'lower',
  }),
});
