import type { Command } from 'unbash';
import { parseScript } from './walk/parse-script.ts';

/** Adjacent unquoted words that may be one path with spaces, as in `cat my file.txt`. */
export interface SpacedWords {
  readonly words: readonly string[];
  readonly pos: number;
  readonly end: number;
}

// A word that bash does not change and that is not an option.
const plainWord = /^[^\s"'\\$`*?[\]{}~!#&|;<>()=-][^\s"'\\$`*?[\]{}~!#&|;<>()]*$/;
// Programs that delete or overwrite files, or start other programs, get their words exactly as written.
const neverQuoted = new Set(
  'rm rmdir unlink shred mv cp dd truncate tee install ln rsync chmod chown chgrp sed find xargs env sudo doas nohup nice timeout time command exec eval bash sh zsh ssh docker echo printf git'.split(
    ' ',
  ),
);
const maxWords = 8;
const maxGroups = 64;

/** Finds groups of words that may be an unquoted path with spaces, longest first. */
export function findSpacedWords(script: string): readonly SpacedWords[] {
  const tree = parseScript(script);
  if (tree.errors?.length) return [];
  return commandsIn(tree)
    .flatMap((command) => groupsIn(command, script))
    .sort((one, other) => other.words.length - one.words.length)
    .slice(0, maxGroups);
}

/** Quotes each group that names an existing path, unless one of its words is an existing path too. */
export function quoteSpacedPaths(
  script: string,
  groups: readonly SpacedWords[],
  exists: ReadonlySet<string>,
): string {
  const chosen: SpacedWords[] = [];
  for (const group of groups) {
    const isPath = exists.has(group.words.join(' ')) && !group.words.some((word) => exists.has(word));
    if (isPath && !chosen.some((other) => group.pos < other.end && other.pos < group.end)) chosen.push(group);
  }
  return chosen
    .sort((one, other) => other.pos - one.pos)
    .reduce(
      (text, { words, pos, end }) => `${text.slice(0, pos)}'${words.join(' ')}'${text.slice(end)}`,
      script,
    );
}

// All simple commands of the script, without those inside words such as `$(…)`.
function commandsIn(node: unknown): readonly Command[] {
  if (typeof node !== 'object' || node === null) return [];
  if (Array.isArray(node)) return node.flatMap(commandsIn);
  const { type } = node as { type?: string };
  if (type === 'Word') return [];
  if (type === 'Command') return [node as Command];
  return Object.values(node).flatMap(commandsIn);
}

function groupsIn({ name, args }: Command, script: string): readonly SpacedWords[] {
  if (name === undefined || !/^[\w./-]+$/.test(name.text) || neverQuoted.has(baseName(name.text))) return [];
  const groups: SpacedWords[] = [];
  for (const [start, first] of args.entries()) {
    const words: string[] = [];
    for (const word of args.slice(start, start + maxWords)) {
      const gap = words.length === 0 ? '' : script.slice(first.pos, word.pos).slice(words.join(' ').length);
      if (word.type !== 'Word' || !plainWord.test(word.text) || (words.length > 0 && gap !== ' ')) break;
      words.push(word.text);
      if (words.length > 1) groups.push({ words: [...words], pos: first.pos, end: word.end });
    }
  }
  return groups;
}

function baseName(path: string): string {
  return path.slice(path.lastIndexOf('/') + 1);
}
