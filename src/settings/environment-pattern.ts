import { z } from 'zod';

/** The name of a variable, in which `*` stands for any letters. */
export const environmentPattern = z.string().regex(/^[A-Za-z_*][A-Za-z0-9_*]*$/);

/** What a list of these accepts, in words. */
export const environmentWords = 'a comma list of variable names, in which * stands for any letters';
