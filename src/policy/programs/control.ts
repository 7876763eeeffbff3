const names = (text: string): ReadonlySet<string> => new Set(text.split(' '));

/** Builtins that run no program and print nothing, so they need not be listed. Their arguments are judged as usual. */
export const controlBuiltins = names(
  'cd : true false test [ exit return break continue shift wait set export local declare typeset readonly unset let umask getopts times',
);

/** The ones that are harmless as programs too (`env true`). */
export const outsideControls = names(': true false test [');
