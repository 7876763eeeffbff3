/** Writes a plain value as YAML on one line: `[git, ls]`, `{ program: git }`. */
export function toFlowText(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(toFlowText).join(', ')}]`;
  if (typeof value === 'string') return isPlain(value) ? value : JSON.stringify(value);
  if (value === null || typeof value !== 'object') return String(value);
  const members = Object.entries(value).filter(([, member]) => member !== undefined);
  return `{ ${members.map(([key, member]) => `${key}: ${toFlowText(member)}`).join(', ')} }`;
}

// Words that YAML 1.2 reads as something other than text; `on` and `off` are text there.
const reserved = /^(?:true|false|null|~|\.inf|\.nan)$/i;

function isPlain(text: string): boolean {
  return /^[A-Za-z_./](?:[\w./+@ ~'-]*[\w./+@~-])?$/.test(text) && !reserved.test(text);
}
