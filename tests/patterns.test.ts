import { readdirSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { describe, expect, test } from 'vitest';
import { parseAst } from 'vitest/node';
import { cpuMsOf } from './support/cpu-time.ts';
import { pumpedTexts } from './support/pumped-texts.ts';

const root = fileURLToPath(new URL('..', import.meta.url));
const files = readdirSync(`${root}src`, { recursive: true, encoding: 'utf8' })
  .map((path) => `src/${path}`)
  .filter((path) => path.endsWith('.ts') && !path.endsWith('.test.ts'));

interface Found {
  readonly place: string;
  readonly pattern: RegExp;
}

/** The regular expression literals of a source file. */
function literalsIn(path: string): Found[] {
  const source = readFileSync(root + path, 'utf8');
  const found: Found[] = [];
  const visit = (node: unknown): void => {
    if (typeof node !== 'object' || node === null) return;
    if ('regex' in node && isPattern(node.regex) && 'start' in node && typeof node.start === 'number') {
      const line = source.slice(0, node.start).split('\n').length;
      const pattern = new RegExp(node.regex.pattern, node.regex.flags);
      found.push({ place: `${path}:${line}`, pattern });
    }
    for (const child of Object.values(node)) visit(child);
  };
  visit(parseAst(source, { lang: 'ts' }));
  return found;
}

function isPattern(value: unknown): value is { pattern: string; flags: string } {
  return typeof value === 'object' && value !== null && 'pattern' in value && 'flags' in value;
}

/** The patterns that modules put together when they are loaded. */
async function constructedIn(paths: readonly string[]): Promise<Found[]> {
  const found: Found[] = [];
  const original = globalThis.RegExp;
  globalThis.RegExp = new Proxy(original, {
    construct(target, args: [string, string?]) {
      const pattern = new target(...args);
      found.push({ place: 'a constructed pattern', pattern });
      return pattern;
    },
  });
  try {
    for (const path of paths) await import(/* @vite-ignore */ `${root}${path}`);
  } finally {
    globalThis.RegExp = original;
  }
  return found;
}

// A few repetitions first: an exponential pattern takes twice as long for each further one.
const counts = [10, 14, 18, 21, 24, 26, 28, 30, 34];
const lengths = [1_000, 16_000];
const mostMs = 60;

/** Returns how long the pattern takes on a text, if that is more than a linear match would take. */
function slowness({ source, flags }: RegExp, text: (count: number) => string): string | undefined {
  const pattern = new RegExp(source, flags);
  const size = Math.max(text(2).length - text(1).length, 1);
  for (const count of [...counts, ...lengths.map((length) => Math.ceil(length / size))]) {
    const attack = text(count);
    const took = matchMs(pattern, attack);
    // Measured again, because a garbage collection may have been counted.
    if (took > mostMs && matchMs(pattern, attack) > mostMs && matchMs(pattern, attack) > mostMs)
      return `${took.toFixed(0)} ms for ${attack.length} characters, ${JSON.stringify(text(2)).slice(0, 100)} …`;
  }
  return undefined;
}

function matchMs(pattern: RegExp, text: string): number {
  pattern.lastIndex = 0;
  return cpuMsOf(() => (pattern.global ? text.replace(pattern, '') : pattern.test(text)));
}

function slowPatterns(patterns: readonly Found[]): string[] {
  return patterns.flatMap(({ place, pattern }) => {
    for (const text of pumpedTexts(pattern)) {
      const slow = slowness(pattern, text);
      if (slow !== undefined) return [`${place} ${pattern}: ${slow}`];
    }
    return [];
  });
}

describe('regular expressions', () => {
  test('take linear time on hostile texts', { timeout: 120_000 }, () => {
    const patterns = files.flatMap(literalsIn);
    expect(patterns.length).toBeGreaterThan(300);
    expect(slowPatterns(patterns)).toEqual([]);
  });

  test('take linear time on hostile texts if they are constructed', { timeout: 60_000 }, async () => {
    const makers = files.filter((path) =>
      /^const [^\n]*new RegExp\(|^ {2}new RegExp\(/m.test(readFileSync(root + path, 'utf8')),
    );
    const patterns = await constructedIn(makers);
    expect(patterns.length).toBeGreaterThan(5);
    expect(slowPatterns(patterns)).toEqual([]);
  });

  test('that backtrack are found by this test', { timeout: 60_000 }, () => {
    const slow = [/^(?:-?[A-Za-z]+\s*)*$/, /\s+$/, /\([^)]*\)x/, /\[[^\]]*\]/, /^(?:a|a)*b/];
    expect(slowPatterns(slow.map((pattern) => ({ place: '', pattern })))).toHaveLength(slow.length);
  });
});
