import type { ParsedScript } from 'unbash';
import { isPlainProgram } from '../programs/plain-programs.ts';
import type { TextSpan } from '../words/arg.ts';
import { parseScript } from './parse-script.ts';
import { programFacts } from './program-facts.ts';
import type { Walk } from './walk.ts';

/** Adds a problem to `walk.disguised` if `text` of the command, which a filter changes before `program` runs it, may be dangerous. */
export function judgeDisguised(
  walk: Walk,
  text: string,
  program: string | undefined,
  { pos, end }: TextSpan,
): void {
  if (!isDisguised(text)) return;
  const reason = 'it runs text of this command after a filter has changed it, which hides its meaning';
  const hint = 'Write the command directly, without a filter that changes its text.';
  walk.disguised.push({ scope: 'danger', rule: 'hidden_text', reason, hint, program, pos, end });
}

/**
 * Returns true if text may become a dangerous command when a filter changes it: it names a destructive program, or it is not yet a
 * script of known programs, as in `echo '/ -rf rm' | awk '{ print $3, $2, $1 }'`.
 */
function isDisguised(text: string): boolean {
  if (destructive.test(text)) return true;
  const script = parseScript(text);
  return (
    (script.errors?.length ?? 0) > 0 || !script.commands.every(({ command }) => runsKnownProgram(command))
  );
}

const destructive =
  /(?<![\w-])(?:rm|rmdir|dd|mkfs(?:\.\w+)?|shred|wipefs|blkdiscard|chmod|chown|kill|truncate|mv)(?![\w-])/;

function runsKnownProgram(node: ParsedScript['commands'][number]['command']): boolean {
  if (node.type === 'Pipeline') return node.commands.every(runsKnownProgram);
  if (node.type === 'AndOr') return node.commands.every(runsKnownProgram);
  if (node.type !== 'Command') return true;
  const name = node.name?.value;
  if (name === undefined) return false;
  const { base, entry, freeInShell } = programFacts(name);
  return entry !== undefined || freeInShell || isPlainProgram(base);
}
