import type { Environment } from './environment.ts';

/** Variables that change what a starting bash executes, prints or defines, or how its `read` and `cd` behave. */
const shellVariables = new Set([
  'BASH_ENV',
  'ENV',
  'SHELLOPTS',
  'BASHOPTS',
  'BASH_COMPAT',
  'BASH_LOADABLES_PATH',
  'BASH_XTRACEFD',
  'CDPATH',
  'EXECIGNORE',
  'FUNCNEST',
  'GLOBIGNORE',
  'POSIXLY_CORRECT',
  'PROMPT_COMMAND',
  'PS0',
  'PS4',
  'TMOUT',
]);

/**
 * Removes the variables that configure bash from the server's environment: nacre's own shells would run the file in
 * BASH_ENV, trace themselves into a command's output (SHELLOPTS), give up waiting (TMOUT), or call an exported function
 * (`BASH_FUNC_ls%%`) in place of a listed program. A caller can still pass them in a request, where they are judged.
 */
export function withoutShellVariables(env: Environment): Environment {
  return Object.fromEntries(
    Object.entries(env).filter(([name]) => !shellVariables.has(name) && !name.startsWith('BASH_FUNC_')),
  );
}
