import { z } from 'zod';

const permission = z
  .string()
  .regex(/^shell:[^\s,:]+$/, 'must be shell: and the name of a program, such as shell:git')
  .describe('shell: and the name of a program that the applet may run.');

/** What applet.json says. */
export const manifestSchema = z.strictObject({
  slug: z
    .string()
    .regex(/^[a-z0-9](?:[a-z0-9-]{0,30}[a-z0-9])?$/, 'must be a short word of a-z, 0-9 and -')
    .describe('The name of its folder and of its origin.'),
  title: z.string().min(1).max(80).optional().describe('Its name for people.'),
  description: z.string().max(300).optional().describe('What it is for, in a sentence.'),
  permissions: z.array(permission).max(100).default([]).describe('What it may do; nothing when left out.'),
  entry: z
    .string()
    .regex(/^[\w-]+\.html$/, 'must be an HTML file in its folder')
    .default('index.html')
    .describe('The page that opens first.'),
});

/** A manifest that is as it should be. */
export type Manifest = z.output<typeof manifestSchema>;

/** The programs that a manifest asks for. */
export function programsOf({ permissions }: Pick<Manifest, 'permissions'>): readonly string[] {
  return permissions.map((one) => one.slice('shell:'.length));
}
