import type { Case, CompoundList, If } from 'unbash';
import { type Output, possibleOutput } from '../words/output.ts';
import type { WalkScope } from './scope.ts';
import type { Shell } from './shell.ts';
import type { Walk } from './walk.ts';

/** Walks `if`, each branch with its own copy of the shell. */
export function walkIf(walk: Walk, node: If, scope: WalkScope): Output {
  const deferredBefore = walk.deferred.length;
  const tested = walk.body(node.clause, scope);
  const then = walkBranch(walk, node.then, scope);
  const outputs = [tested, then.output];
  const ends = [then.shell];
  const add = ({ shell, output }: Branch): void => {
    outputs.push(output);
    ends.push(shell);
  };
  for (const elif of node.elif) {
    outputs.push(walk.body(elif.clause, conditional(scope)));
    add(walkBranch(walk, elif.then, scope));
  }
  if (node.else !== undefined) add(walkBranch(walk, node.else, scope));
  mergeBranches(scope.shell, ends, node.else !== undefined, walk.deferred.length === deferredBefore);
  return possibleOutput(outputs);
}

/** Walks `case`, whose branches may fall through. */
export function walkCase(walk: Walk, node: Case, scope: WalkScope): Output {
  const deferredBefore = walk.deferred.length;
  walk.single(node.word, scope);
  const ends: Shell[] = [];
  const outputs: Output[] = [];
  for (const item of node.items) {
    for (const pattern of item.pattern) walk.single(pattern, scope);
    const shell = scope.shell.clone();
    walk.spend(1 + shell.variables.size / 8);
    // With `;&` and `;;&` a branch may follow the previous one, so merge the state after it.
    const previous = ends.at(-1);
    if (previous !== undefined) shell.merge(previous);
    outputs.push(walk.body(item.body, inBranch(scope, shell)));
    ends.push(shell);
  }
  mergeBranches(scope.shell, ends, false, walk.deferred.length === deferredBefore);
  return possibleOutput(outputs);
}

/** Returns the scope for commands that may not run. */
export function conditional(scope: WalkScope): WalkScope {
  return scope.conditional ? scope : inBranch(scope, scope.shell);
}

/** The output of a branch and the shell state after it. */
interface Branch {
  readonly output: Output;
  readonly shell: Shell;
}

function walkBranch(walk: Walk, body: CompoundList, scope: WalkScope): Branch {
  const shell = scope.shell.clone();
  walk.spend(1 + shell.variables.size / 8);
  return { output: walk.body(body, inBranch(scope, shell)), shell };
}

/** Returns the scope of a branch with its own shell. */
function inBranch(scope: WalkScope, shell: Shell): WalkScope {
  const inner = scope.copy();
  inner.shell = shell;
  inner.conditional = true;
  return inner;
}

/** Merges the states after all branches; without `complete`, the state before them is possible too. */
function mergeBranches(shell: Shell, ends: readonly Shell[], complete: boolean, done: boolean): void {
  const [first] = ends;
  if (complete && first !== undefined) shell.replaceWith(first);
  for (const end of ends) shell.merge(end);
  // Functions and traps in `deferred` keep using the shell in which they were defined.
  if (done) for (const end of ends) end.release();
}
