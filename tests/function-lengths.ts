// Lengths of functions, read from the layout: sources are formatted, so a function's last line is a closing brace with
// the indentation of its first line.
import { blankLiterals } from './blank-comments.ts';

/** A function with its first line and its number of lines. */
export interface MeasuredFunction {
  readonly name: string;
  readonly line: number;
  readonly lines: number;
}

/** Every function of a source file that has a body of several lines. */
export function measureFunctions(source: string): readonly MeasuredFunction[] {
  const lines = blankLiterals(source).split('\n');
  return lines.flatMap((line, index) => {
    if (!opensFunction(lines, index)) return [];
    const indent = /^ */.exec(line)?.[0] ?? '';
    const first = firstLineOf(lines, index, indent);
    const last = lines.findIndex((one, at) => at > index && one.startsWith(`${indent}}`));
    if (last < 0) return [];
    return [{ name: nameOf(lines[first] ?? ''), line: first + 1, lines: last - first + 1 }];
  });
}

const control =
  /^\s*(?:\} else )?(?:if|for|while|switch|catch|with)\b|^\s*(?:\} )?(?:else|do|try|finally|catch)\b/;
const container = /^\s*(?:export |default |declare |abstract )*(?:class|interface|namespace|enum|type)\b/;

function opensFunction(lines: readonly string[], index: number): boolean {
  const line = lines[index] ?? '';
  if (!/(?:=>|\)(?:: .+)?) \{\s*$/.test(line)) return false;
  const first = lines[firstLineOf(lines, index, /^ */.exec(line)?.[0] ?? '')] ?? '';
  return line.endsWith('=> {') || !(control.test(first) || container.test(first));
}

// A parameter list over several lines ends with `) {`, at the indentation of the line it began on.
function firstLineOf(lines: readonly string[], index: number, indent: string): number {
  if (!(lines[index] ?? '').startsWith(`${indent})`) && !(lines[index] ?? '').startsWith(`${indent}}`))
    return index;
  for (let at = index - 1; at >= 0; at -= 1) {
    const line = lines[at] ?? '';
    if (line.startsWith(indent) && /[^\s)}]/.test(line.charAt(indent.length))) return at;
  }
  return index;
}

function nameOf(line: string): string {
  const [, name] =
    /(?:function\*? |const |let )([\w$]+)/.exec(line) ??
    /^\s*(?:async |get |set |static |\*)*([\w$#]+)/.exec(line) ??
    [];
  return name ?? '(anonymous)';
}
