import { readdirSync, readFileSync } from 'node:fs';

/** Every Markdown page in the root and in docs, by path from the project's root. */
export function findPages(): readonly string[] {
  const docs = readdirSync('docs', { recursive: true, encoding: 'utf8' });
  const below = docs.filter((name) => name.endsWith('.md')).map((name) => `docs/${name}`);
  const above = readdirSync('.').filter((name) => name.endsWith('.md'));
  return [...above, ...below].sort();
}

/** The fenced blocks of a page in this language. */
export function blocks(page: string, language: string): string[] {
  const fence = new RegExp(`^\`\`\`${language}\n([^]*?)^\`\`\``, 'gm');
  return [...readFileSync(page, 'utf8').matchAll(fence)].map(([, text = '']) => text);
}

/** The targets of all links of a page. */
export function linksOf(page: string): string[] {
  const text = proseOf(page).replaceAll(/`[^`\n]*`/g, '');
  return [...text.matchAll(/\]\(([^)\s]+)\)/g)].map(([, link = '']) => link);
}

/** The heading anchors of a page, as GitHub generates them. */
export function anchorsOf(page: string): readonly string[] {
  const headings = [...proseOf(page).matchAll(/^#+ (.+)$/gm)].map(([, heading = '']) => toAnchor(heading));
  return headings.map((anchor, at) => {
    const before = headings.slice(0, at).filter((other) => other === anchor).length;
    return before === 0 ? anchor : `${anchor}-${before}`;
  });
}

function proseOf(page: string): string {
  return readFileSync(page, 'utf8').replaceAll(/^```[\s\S]*?^```/gm, '');
}

function toAnchor(heading: string): string {
  const text = heading.replaceAll(/\[([^\]]*)\]\([^)]*\)/g, '$1').toLowerCase();
  return text.replaceAll(/[^\p{L}\p{N} _-]/gu, '').replaceAll(' ', '-');
}
