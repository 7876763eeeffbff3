// A loop that starts programs in the background without end, or very often, and waits for none of them fills the table of processes
// as a fork bomb does.
import type {
  ArithmeticFor,
  Command,
  CompoundList,
  For,
  PipelineNode,
  Select,
  TestExpression,
  While,
} from 'unbash';
import { constantOf } from './constant-of.ts';
import { spanOf, type WalkScope } from './scope.ts';
import type { Walk } from './walk.ts';

/** Returns true for a loop whose condition is always met, such as `while true` or `yes | while read x`. */
export function isEndless({ kind, clause }: While, { stdin }: WalkScope): boolean {
  const [only, ...others] = clause.commands;
  if (only === undefined || others.length > 0 || only.command.type === 'AndOr') return false;
  const node = only.command;
  const isNegated = node.type === 'Pipeline' && node.prefixes.some(({ type }) => type === 'Negation');
  const [inner] = node.type === 'Pipeline' ? node.commands : [node];
  if (inner === undefined || (node.type === 'Pipeline' && node.commands.length > 1)) return false;
  const isEndlessInput = stdin !== 'none' && stdin.endless === true;
  const always = resultOf(inner, isEndlessInput);
  return always !== undefined && (always !== isNegated) === (kind === 'while');
}

/** The result of a condition that is the same in every round; undefined if it may change. */
function resultOf(node: PipelineNode, isEndlessInput: boolean): boolean | undefined {
  if (node.type === 'ArithmeticCommand') {
    const value = node.expression && constantOf(node.expression);
    return value === undefined ? undefined : value !== '0';
  }
  // A test of constants is taken to succeed: with one that fails, the loop would have no round.
  if (node.type === 'TestCommand') return isConstantTest(node.expression) ? true : undefined;
  if (node.type !== 'Command' || node.name === undefined) return undefined;
  const { name } = node;
  const words = node.args.map(({ text }) => text);
  if (name.value === 'false') return false;
  if (name.value === 'true' || name.value === ':') return true;
  if (name.value === 'read') return isEndlessInput || node.redirects.some(readsEndless) ? true : undefined;
  if (name.value === '[' || name.value === 'test') return words.some(mayChange) ? undefined : true;
  if (name.value === 'sleep') return words.every((word) => /^[0.]+$/.test(word)) ? true : undefined;
  return printers.has(name.value) ? true : undefined;
}

const printers = new Set(['echo', 'printf', 'date', 'clear']);

/** Returns true for a word with an expansion, and for an operator that looks at files. */
function mayChange(word: string): boolean {
  return /[$`]|^-(?!(?:eq|ne|[gl][te]|n|z)$)[a-zA-Z]/.test(word);
}

function isConstantTest(expression: TestExpression): boolean {
  switch (expression.type) {
    case 'TestUnary':
      return !mayChange(expression.operator) && !mayChange(expression.operand.text);
    case 'TestBinary':
      return !mayChange(expression.left.text) && !mayChange(expression.right.text);
    default:
      return false;
  }
}

function readsEndless(redirect: Command['redirects'][number]): boolean {
  return redirect.type === 'Redirect' && isEndlessFile(redirect.target?.text ?? '');
}

/** Returns true for devices that can be read without end, and for `<(yes)`. */
export function isEndlessFile(text: string): boolean {
  return /^\/dev\/(?:zero|u?random|full)$|^<\(\s?(?:yes\b|cat \/dev\/(?:zero|u?random)|seq [\d ]{0,20}inf)[^|]*\)$/.test(
    text,
  );
}

/** More rounds than a machine has room for processes. */
const manyRounds = 10_000;

/** Returns true for `for i in {1..100000}` and `for i in $(seq 100000)`. */
export function hasManyRounds({ wordlist = [] }: For | Select): boolean {
  return wordlist.some(({ text }) => {
    const [, end = '0'] = /^(?:\{\d{1,9}\.\.|[$(`"]{1,3}seq (?:\d{1,9} ){0,2})(\d{1,12})/.exec(text) ?? [];
    return Number(end) >= manyRounds;
  });
}

/** Returns true for a loop that certainly has several rounds, such as `for i in 1 2 3`. */
export function hasSeveralRounds({ wordlist = [] }: For | Select): boolean {
  return (
    (wordlist.length > 1 || wordlist[0]?.text.startsWith('{') === true) &&
    !wordlist.some(({ text }) => /[$`*?[]/.test(text))
  );
}

/** Returns true for `for ((;;))` and `for ((i = 0; i < 100000; i++))`. */
export function countsFar({ test }: ArithmeticFor): boolean {
  if (test === undefined) return true;
  if (test.type !== 'ArithmeticBinary') return constantOf(test) !== undefined;
  return Number(constantOf(test.right) ?? 0) >= manyRounds;
}

/** Reports a loop without end whose body starts commands in the background and waits for nothing. */
export function judgeEndless(walk: Walk, body: CompoundList, scope: WalkScope): void {
  const span = body.commands[0];
  if (span === undefined || !startsOnly(body)) return;
  const reason = 'the loop starts programs without end and waits for none (a fork bomb)';
  walk.problems.push({ scope: 'danger', rule: 'fork_bomb', reason, ...spanOf(span, scope) });
}

/** Returns true if a list starts commands in the background, also inside `( … )` or `{ …; }`, and none of its other commands takes time. */
function startsOnly({ commands }: CompoundList): boolean {
  return (
    commands.some(({ background, command }) => background === true || startsInside(command)) &&
    commands.every(
      ({ background, command }) => background === true || startsInside(command) || isQuick(command),
    )
  );
}

function startsInside(node: CompoundList['commands'][number]['command']): boolean {
  return (node.type === 'Subshell' || node.type === 'BraceGroup') && startsOnly(node.body);
}

function isQuick(node: CompoundList['commands'][number]['command']): boolean {
  if (node.type === 'ArithmeticCommand' || node.type === 'TestCommand') return true;
  if (node.type !== 'Command') return false;
  if (node.name !== undefined) return quick.has(node.name.value);
  return !node.prefix.some((item) => item.type === 'Assignment' && /[$(]\(|`/.test(item.text));
}

const quick = new Set('echo printf : true false test [ let export local declare set shift disown'.split(' '));
