import { replyShapes } from '../contract/reply.ts';
import { defineSettings } from '../settings/define.ts';
import { s } from '../settings/schema.ts';

/** Settings for the size and the shape of replies. */
export const outputSettings = defineSettings({
  maxOutputChars: s.int().min(1).max(200_000).default(30_000).meta({
    env: 'NACRE_MAX_OUTPUT_CHARS',
    flag: '--max-output-chars',
    description: 'Characters of output in one reply, stdout and stderr together.',
    project: 'lower',
  }),
  reply: s
    .choice(['auto', ...replyShapes])
    .default('auto')
    .meta({
      env: 'NACRE_REPLY',
      flag: '--reply',
      description:
        'Shape of replies over MCP: text, structured data, or both. auto uses text for clients that are known to pass it on, and both for all others.',
    }),
});
