import type { Case, CompoundList, If } from 'unbash';
import { type Output, possibleOutput } from '../words/output.ts';
import type { WalkScope } from './scope.ts';
import type { Shell } from './shell.ts';
import type { Walk } from './walk.ts';

/** Walks `if`, each branch with a shell of its own. */
export function walkIf(walk: Walk, node: If, scope: WalkScope): Output {
  const keepers = walk.deferred.length;
  const tested = walk.body(node.clause, scope);
  const then = walkBranch(walk, node.then, scope);
  const outputs = [tested, then.output];
  const ends = [then.shell];
  const take = ({ shell, output }: Branch): void => {
    outputs.push(output);
    ends.push(shell);
  };
  for (const elif of node.elif) {
    outputs.push(walk.body(elif.clause, conditional(scope)));
    take(walkBranch(walk, elif.then, scope));
  }
  if (node.else !== undefined) take(walkBranch(walk, node.else, scope));
  mergeBranches(scope.shell, ends, node.else !== undefined, walk.deferred.length === keepers);
  return possibleOutput(outputs);
}

/** Walks `case`, whose branches may fall through. */
export function walkCase(walk: Walk, node: Case, scope: WalkScope): Output {
  const keepers = walk.deferred.length;
  walk.single(node.word, scope);
  const ends: Shell[] = [];
  const outputs: Output[] = [];
  for (const item of node.items) {
    for (const pattern of item.pattern) walk.single(pattern, scope);
    const shell = scope.shell.clone();
    walk.spend(1 + shell.variables.size / 8);
    // A branch that falls through goes on with what the one before has set.
    const previous = ends.at(-1);
    if (previous !== undefined) shell.merge(previous);
    outputs.push(walk.body(item.body, inBranch(scope, shell)));
    ends.push(shell);
  }
  mergeBranches(scope.shell, ends, false, walk.deferred.length === keepers);
  return possibleOutput(outputs);
}

/** The scope for what may be left out. */
export function conditional(scope: WalkScope): WalkScope {
  return scope.conditional ? scope : inBranch(scope, scope.shell);
}

/** What a branch prints, and the shell as it leaves it. */
interface Branch {
  readonly output: Output;
  readonly shell: Shell;
}

function walkBranch(walk: Walk, body: CompoundList, scope: WalkScope): Branch {
  const shell = scope.shell.clone();
  walk.spend(1 + shell.variables.size / 8);
  return { output: walk.body(body, inBranch(scope, shell)), shell };
}

/** The scope of a branch, with the shell as it is there. */
function inBranch(scope: WalkScope, shell: Shell): WalkScope {
  const inner = scope.copy();
  inner.shell = shell;
  inner.conditional = true;
  return inner;
}

/** After branches, everything may hold that held at the end of one of them. */
function mergeBranches(shell: Shell, ends: readonly Shell[], complete: boolean, done: boolean): void {
  const [first] = ends;
  if (complete && first !== undefined) shell.replaceWith(first);
  for (const end of ends) shell.merge(end);
  // Functions and traps keep the shell in which they were set until the end.
  if (done) for (const end of ends) end.release();
}
