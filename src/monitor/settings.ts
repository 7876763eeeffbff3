import { defineSettings } from '../settings/define.ts';
import { s } from '../settings/schema.ts';

/** The log levels, from the fewest lines to the most. */
export const logLevels = ['off', 'error', 'warn', 'info', 'debug'] as const;

/** Settings for log lines and traces. */
export const monitorSettings = defineSettings({
  logLevel: s.choice(logLevels).default('off').meta({
    env: 'NACRE_LOG_LEVEL',
    flag: '--log-level',
    description: 'Which log lines go to stderr: info logs every command, debug every step of it.',
  }),
  logFormat: s.choice(['pretty', 'json']).default('pretty').meta({
    env: 'NACRE_LOG_FORMAT',
    flag: '--log-format',
    description: 'Whether log lines are readable text or one JSON document each.',
  }),
  traces: s.boolean().default(false).meta({
    env: 'NACRE_TRACES',
    flag: '--traces',
    description:
      'Whether each command becomes an OpenTelemetry span; the package @opentelemetry/api must be installed.',
  }),
});
