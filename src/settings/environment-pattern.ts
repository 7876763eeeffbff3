import { s } from './schema.ts';

/** Schema of a variable name in which `*` matches any characters. */
export const environmentPattern = s.text().regex(/^[A-Za-z_*][A-Za-z0-9_*]*$/);

/** The `accepts` text of a setting that is a list of `environmentPattern`. */
export const environmentWords = 'a comma-separated list of variable names, in which * matches any characters';
