import { s } from '../settings/schema.ts';

/** An optional text, such as `--client NAME`. */
export function textFlag(flag: string, description: string) {
  return s.text().min(1).optional().meta({ flag, description });
}

/** An optional path, such as `--cwd DIR`; shells complete file names after it. */
export function pathFlag(flag: string, description: string, unset?: string) {
  return s
    .text()
    .min(1)
    .optional()
    .meta({ flag, description, path: true, ...(unset !== undefined && { unset }) });
}

/** A flag without a value, such as `--json`. */
export function switchFlag(flag: string | readonly string[], description: string) {
  return s.boolean().default(false).meta({ flag, description });
}

/** `--json`, present on most doors. */
export const jsonFlag = switchFlag('--json', 'Print one JSON document.');

/** `--since`, for doors that read the audit log. */
export const sinceFlag = textFlag(
  '--since',
  'Only commands since then: an age (90min, 2d), a date (2026-01-31) or a full timestamp.',
);

/** An optional TCP port, such as `--to 8080`. */
export function portFlag(flag: string, description: string, unset?: string) {
  return s
    .int()
    .min(1)
    .max(65_535)
    .optional()
    .meta({ flag, description, ...(unset !== undefined && { unset }) });
}
