const names = (text: string): ReadonlySet<string> => new Set(text.split(' '));

/** Builtins that run and print nothing and so need not be listed; what stands inside them is judged as ever. */
export const controlBuiltins = names(
  'cd : true false test [ exit return break continue shift wait set export local declare typeset readonly unset let umask getopts times',
);

/** Those of them that do as little when a program starts them. */
export const outsideControls = names(': true false test [');
