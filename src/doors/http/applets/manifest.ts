import { z } from 'zod';

const permission = z
  .string()
  .regex(/^shell:[^\s,:]+$/, 'must be shell: and the name of a program, such as shell:git')
  .describe('shell: and the name of a program that the applet may run.');

const slugPattern = /^[a-z0-9](?:[a-z0-9-]{0,30}[a-z0-9])?$/;

/** The rule for slugs, as the end of a sentence; a slug is a folder name and a label of a host name. */
export const slugRule = 'must be 1 to 32 characters of a-z, 0-9 and -, with a letter or digit at both ends';

/** Whether a text can be the slug of an applet. */
export function isSlug(text: string): boolean {
  return slugPattern.test(text);
}

/** The schema of applet.json. */
export const manifestSchema = z.object({
  slug: z.string().regex(slugPattern, slugRule).describe('The name of its folder and of its origin.'),
  title: z.string().min(1).max(80).optional().describe('Its display name.'),
  description: z.string().max(300).optional().describe('Its purpose, in one sentence.'),
  permissions: z.array(permission).max(100).default([]).describe('Its permissions; none when omitted.'),
  workers: z
    .boolean()
    .default(false)
    .describe('Whether its pages may start workers, including a service worker.'),
  entry: z
    .string()
    .regex(/^[\w-]+\.html$/, 'must be an HTML file in its folder')
    .default('index.html')
    .describe('The page that is opened first.'),
});

/** The keys of a manifest that nacre does not know and ignores. */
export function unknownKeys(manifest: unknown): readonly string[] {
  const known = Object.keys(manifestSchema.shape);
  return Object.keys(manifest ?? {}).filter((key) => !known.includes(key));
}

/** A parsed manifest. */
export type Manifest = z.output<typeof manifestSchema>;

/** The programs that a manifest asks to run. */
export function programsOf({ permissions }: Pick<Manifest, 'permissions'>): readonly string[] {
  return permissions.map((one) => one.slice('shell:'.length));
}
