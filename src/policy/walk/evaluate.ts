import type { ArithmeticExpression, ParsedScript } from 'unbash';
import { withoutTrailing } from '../../support/without-trailing.ts';
import { foreignText, type Hole, mayExpand, type TextSpan, textOf, type Value } from '../words/arg.ts';
import { limits, PolicyLimitError } from '../words/limits.ts';
import { isSetByBash } from '../words/set-by-bash.ts';
import { expandQuoted } from './expand-word.ts';
import { mayHideExpansion } from './misread.ts';
import { parseScript } from './parse-script.ts';
import { spanOf, type WalkScope } from './scope.ts';
import { derivedHole, everyValue } from './variable.ts';
import type { Reevaluation, Walk, WalkSite } from './walk.ts';
import { endOfIdentifier } from './word-shape.ts';

const tooOften = 'text is evaluated too many times';

/** Judges a value that bash evaluates again; in an unknown value, judges its known text and the text it is derived from. */
export function evaluateValue(site: WalkSite, value: Value, as: Reevaluation, seen?: Set<string>): void {
  let text = '';
  let known = true;
  for (const piece of value) {
    if (typeof piece !== 'string') known = false;
    text += typeof piece === 'string' ? piece : piece.hole === 'glob' ? piece.text : '1';
  }
  if (known || mayExpand(text)) evaluateText(site, text, as, seen);
  for (const piece of known ? none : value) if (typeof piece === 'object') evaluateHole(site, piece, seen);
}

function evaluateHole(site: WalkSite, hole: Hole, seen: Set<string> | undefined): void {
  const from = hole.from ?? '';
  if (from.includes(foreignText)) refuseForeign(site);
  const own = from.replaceAll(foreignText, '');
  if (mayExpand(own)) evaluateText(site, own, 'prompt', seen);
  if (isLost(hole) || own !== '') site.walk.literals.lose(spanOf(site.span, site.scope));
}

/** Bash runs substitutions in a subscript that it evaluates, so a list refuses text from outside the command there. */
function refuseForeign({ walk, scope, span }: WalkSite): void {
  const reason =
    'Bash would evaluate text from a file or a program as arithmetic or as the name of a variable, which is not allowed under an allow list, because a subscript in it can run commands';
  const hint =
    'Compare with [ "$x" -gt 1 ], which evaluates nothing, or keep only the digits, as tr -dc 0-9 does.';
  walk.problems.push({ scope: 'finite', rule: 'unknown_text', reason, hint, ...spanOf(span, scope) });
}

/** Judges text that bash evaluates again: substitutions in it run, and variables it names are evaluated as expressions. */
function evaluateText(site: WalkSite, text: string, as: Reevaluation, before: Set<string> | undefined): void {
  site.walk.spend(1 + text.length / 64);
  const isName = endOfIdentifier(text) === text.length;
  // Numbers and operators refer to no variable.
  if (!isName && !/[A-Za-z_$`]/.test(text)) return;
  const subject = as === 'name' ? subscriptOf(text) : text;
  if (subject === '') return;
  const expanded = !isName && mayExpand(subject) ? expandText(site, subject) : none;
  if (as === 'prompt') return;
  let seen = before;
  // The expansion of a subscript is evaluated as an expression again.
  for (const value of expanded) {
    const inner = textOf(value);
    if (inner === undefined)
      for (const piece of value) if (typeof piece === 'object') evaluateHole(site, piece, seen);
    if (inner === undefined || inner === subject || seen?.has(inner)) continue;
    seen ??= new Set();
    const texts = [...seen].filter((one) => /\W/.test(one)).length;
    if (texts > 6 || inner.length > limits.textLength) throw new PolicyLimitError(tooOften);
    seen.add(inner);
    evaluateText(site, inner, 'arithmetic', seen);
  }
  for (const name of isName ? [subject] : (subject.match(/[A-Za-z_]\w*/g) ?? none)) {
    const variable = site.scope.shell.variables.get(name);
    if (variable === undefined ? isSetByBash(name) : everyValue(variable).some(isLostValue))
      site.walk.literals.lose(spanOf(site.span, site.scope));
    if (variable === undefined || everyValue(variable).every(isIdle) || seen?.has(name)) continue;
    seen ??= new Set();
    seen.add(name);
    for (const value of everyValue(variable)) evaluateValue(site, value, 'arithmetic', seen);
  }
}

/** Returns true for a number or an unknown value that is not derived from text; it needs no evaluation. */
function isIdle(value: Value): boolean {
  const [only] = value;
  return value.length === 1 && typeof only === 'object' && only.hole !== 'glob' && only.from === undefined;
}

/** Returns true for a piece that may contain text of the command which the walk does not follow. */
function isLost({ hole, from, outside }: Hole): boolean {
  return hole === 'unknown' && from === undefined && outside !== true;
}

function isLostValue([only]: Value): boolean {
  return typeof only === 'object' && isLost(only);
}

const none: readonly never[] = [];

const nowhere: TextSpan = { pos: 0, end: 0 };

const assigning = new Set('= += -= *= /= %= &= |= ^= <<= >>='.split(' '));

/** Walks an arithmetic expression: its substitutions, the variables it reads and those it assigns. */
export function walkArithmetic(
  walk: Walk,
  expression: ArithmeticExpression | undefined,
  text: string,
  scope: WalkScope,
): void {
  walk.spend(1);
  if (expression === undefined) {
    const site = { walk, scope, span: scope.within ?? nowhere };
    if (text.trim() !== '') evaluateText(site, text, 'arithmetic', undefined);
    return;
  }
  switch (expression.type) {
    case 'ArithmeticBinary':
      walkArithmetic(walk, expression.left, '', scope);
      walkArithmetic(walk, expression.right, '', scope);
      if (expression.operator.endsWith('=') && assigning.has(expression.operator))
        assignTarget(walk, expression.left, scope);
      break;
    case 'ArithmeticUnary':
      walkArithmetic(walk, expression.operand, '', scope);
      if (expression.operator === '++' || expression.operator === '--')
        assignTarget(walk, expression.operand, scope);
      break;
    case 'ArithmeticTernary':
      walkArithmetic(walk, expression.test, '', scope);
      walkArithmetic(walk, expression.consequent, '', scope);
      walkArithmetic(walk, expression.alternate, '', scope);
      break;
    case 'ArithmeticGroup':
      walkArithmetic(walk, expression.expression, '', scope);
      break;
    case 'ArithmeticCommandExpansion':
      if (expression.script !== undefined) walkSubstitution(walk, expression.script, scope);
      break;
    case 'ArithmeticWord':
      walkOperand(walk, expression, scope);
  }
}

/** Walks a substitution; its output is part of the expression. */
function walkSubstitution(walk: Walk, script: ParsedScript, scope: WalkScope): void {
  const { text, more, from = '' } = walk.capture(script, scope);
  const value = more ? derivedHole([text, from]) : withoutTrailing(text, '\n');
  evaluateValue({ walk, scope, span: scope.within ?? nowhere }, [value], 'arithmetic');
}

function walkOperand(
  walk: Walk,
  word: Extract<ArithmeticExpression, { type: 'ArithmeticWord' }>,
  scope: WalkScope,
): void {
  const site = { walk, scope, span: scope.within ?? word };
  for (const value of operandValues(site, word)) evaluateValue(site, value, 'arithmetic');
}

/** unbash returns no parts for `$1` and `$name` and treats literal quotes as quoting, so such words are read again here. */
function operandValues(
  site: WalkSite,
  word: Extract<ArithmeticExpression, { type: 'ArithmeticWord' }>,
): readonly Value[] {
  if (word.parts !== undefined && !mayHideExpansion(word.value))
    return expandQuoted(site.walk, site.scope, word.parts, site.span);
  return mayExpand(word.value) ? expandText(site, word.value) : [[word.value]];
}

function assignTarget(walk: Walk, target: ArithmeticExpression, scope: WalkScope): void {
  const name = target.type === 'ArithmeticWord' ? /^\s*([A-Za-z_]\w*)/.exec(target.value)?.[1] : undefined;
  if (name === undefined) return;
  walk.assign(
    name,
    { kind: 'text', values: [[{ hole: 'number', text: '' }]] },
    scope.within ?? target,
    scope,
  );
}

function subscriptOf(text: string): string {
  const open = text.indexOf('[');
  return open < 0 ? '' : text.slice(open);
}

/** Expands text as if it were inside double quotes, by parsing it as a heredoc body, and walks its substitutions. */
function expandText({ walk, scope, span }: WalkSite, text: string): readonly Value[] {
  if (scope.depth >= limits.depth) throw new PolicyLimitError(tooOften);
  let mark = 'end_of_text';
  while (text.includes(mark)) mark += '_';
  const script = parseScript(`: <<${mark}\n${text}\n${mark}\n`);
  const command = script.commands[0]?.command;
  const heredoc = command?.type === 'Command' ? command.suffix[0] : undefined;
  if (heredoc?.type !== 'HereDoc') return [];
  const inner = scope.with({ within: span, depth: scope.depth + 1 });
  return expandQuoted(walk, inner, heredoc.body.parts ?? [], span).map(withoutNewline);
}

function withoutNewline(value: Value): Value {
  const last = value.at(-1);
  return typeof last === 'string' ? [...value.slice(0, -1), last.replace(/\n$/, '')] : value;
}
