import { z } from 'zod';
import { defineSettings } from '../settings/define.ts';

/** The levels of log lines, from the fewest lines to the most. */
export const logLevels = ['off', 'error', 'warn', 'info', 'debug'] as const;

/** What is told on stderr while commands run. */
export const monitorSettings = defineSettings({
  logLevel: z.enum(logLevels).default('off').meta({
    env: 'NACRE_LOG_LEVEL',
    flag: '--log-level',
    description: 'Which log lines go to stderr: info tells every command, debug every step of it.',
  }),
  logFormat: z.enum(['pretty', 'json']).default('pretty').meta({
    env: 'NACRE_LOG_FORMAT',
    flag: '--log-format',
    description: 'Whether log lines are for people or one JSON document each.',
  }),
  traces: z.boolean().default(false).meta({
    env: 'NACRE_TRACES',
    flag: '--traces',
    description:
      'Whether each command becomes a span of OpenTelemetry; the package @opentelemetry/api must be there.',
  }),
});
