/** The danger of a recipe that starts itself twice. */
export const startsTwice = { rule: 'fork_bomb', reason: 'the recipe starts itself twice (a fork bomb)' };

/** Returns true for a recipe with `$(MAKE) & $(MAKE)`, and for a script `x` with `npm run x & npm run x`; `make -C` starts another Makefile. */
export function startsItselfTwice(text: string): boolean {
  return twoMakes.test(text) || twoScripts.test(text);
}

const twoMakes =
  /^\t[^\n]{0,200}(?:\$\(MAKE\)|\bmake\b)(?:(?! -C)[^&|;\n]){0,200}&(?!&)[^&\n]{0,200}(?:\$\(MAKE\)|\bmake\b)(?![^\n]{0,200} -C)/m;
const twoScripts = /"([\w:-]{1,40})"\s?:\s?"[^"]{0,99}\b(npm|yarn|pnpm) run \1 ?&(?!&)[^"]{0,99} run \1\b/;
