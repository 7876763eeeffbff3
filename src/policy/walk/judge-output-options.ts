// Every program has options that name a file to write, and each release adds some: `gcc -Wl,-Map,x`, `java -Xlog:gc:file=x`,
// `pytest --cov-report=html:x`. Their entries judge the usual ones; the others are found by their names if the file is protected.
import { type Arg, knownArg, prefixOf } from '../words/arg.ts';
import { judgeProtected } from './judge-write.ts';
import type { WalkScope } from './scope.ts';
import type { Walk } from './walk.ts';

/** Refuses options whose name says that they write a file or fill a folder, if it is protected. */
export function judgeOutputOptions(
  walk: Walk,
  program: string,
  args: readonly Arg[],
  scope: WalkScope,
): void {
  if (searching.has(program)) return;
  for (let at = 0; at < args.length; at++) {
    const arg = args[at];
    if (arg === undefined || !prefixOf(arg).startsWith('-')) continue;
    if (arg.text === '--') return;
    for (const path of pathsIn(arg, args[at + 1])) judgeProtected(walk, path, program, scope);
  }
}

/** Programs that only read, in whose options a word such as `-o` has another meaning, and git, whose options are all known. */
const searching = new Set(
  'ack ag cat diff egrep fd fgrep find git grep head id ls lsof mount ps rg scp sftp ssh tail tree'.split(
    ' ',
  ),
);

function pathsIn(arg: Arg, next: Arg | undefined): readonly Arg[] {
  const { text } = arg;
  if (text === undefined) return [];
  const short = /^-o(?=[./~])/.exec(text)?.[0];
  if (short !== undefined) return [knownArg(text.slice(short.length), arg)];
  const end = Math.max(text.lastIndexOf('='), text.lastIndexOf(':'), text.lastIndexOf(','));
  if (end > 0) return writes.test(text.slice(0, end)) ? [knownArg(text.slice(end + 1), arg)] : [];
  if (next?.text === undefined || !takesPath.test(text)) return [];
  const inside = /^[\w.-]{1,40}[=:](.*)$/s.exec(next.text)?.[1];
  return inside === undefined ? [next] : [next, knownArg(inside, next)];
}

const writes =
  /^-(?!.*(?:exclude|include|ignore|skip|filter|input|config|git-dir|work-tree)).*(?:out|log|report|xml|dump|save|dest|export|target|trace|profile|cache|prefix|emit|artifact|install|extract|graphviz|record|diagnostics|Map)|^-W[alp],-[ao]/i;

const takesPath =
  /^(?:-[oO]|--?[\w-]{0,40}(?:out|output|log-?file|logfile|dump|save|dest|destination|prefix|target|results|joblog|workdir|cov-report|result-json|cache-location|(?:output|target|install|cache|log|report|download)-?(?:dir|directory|path|folder|root))[\w-]{0,40})$/i;
