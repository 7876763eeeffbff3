import type { Narrowing } from '../contract/narrowing.ts';
import type { CommandRequest } from '../contract/request.ts';
import type { Engine } from '../engine/engine.ts';
import type { LiveSettings } from '../rules/live-settings.ts';
import { narrowRules, type Resolved, rulesForFamily } from '../rules/rules-for.ts';
import { families } from '../tools/catalog.ts';
import type { CallDefaults, Tool } from '../tools/common/tool.ts';
import { toFamilies } from '../tools/settings.ts';

/** Creates the tools that the settings enable, bound to their rules. `openEngine` runs at the first call that needs it. */
export function assembleTools(
  settings: LiveSettings,
  openEngine: () => Promise<Engine>,
  narrowing?: Narrowing,
): readonly Tool[] {
  const { values } = settings.now();
  return toFamilies(values.tools).flatMap((family) => {
    const rulesNow = memoizeLast((resolved: Resolved) =>
      narrowRules(rulesForFamily(family, resolved), narrowing),
    );
    const rules = async () => {
      await settings.refresh();
      return rulesNow(settings.now());
    };
    return families[family]({
      run: async (request, context) =>
        (await openEngine()).run(withCallDefaults(request, context), { ...context, ...(await rules()) }),
      check: async (request, defaults) =>
        (await openEngine()).check(withCallDefaults(request, defaults), await rules()),
      commands: {
        start: async (request, context) =>
          (await openEngine()).start(withCallDefaults(request, context), { ...context, ...(await rules()) }),
        runOrDetach: async (request, context) =>
          (await openEngine()).runOrDetach(withCallDefaults(request, context), {
            ...context,
            ...(await rules()),
          }),
        read: async (...args) => (await openEngine()).read(...args),
        checkReading: async (...args) => (await openEngine()).checkReading(...args),
        write: async (...args) => (await openEngine()).write(...args),
        stop: async (...args) => (await openEngine()).stop(...args),
        list: async (caller) => (await openEngine()).list(caller),
        listSessions: async () => (await openEngine()).listSessions(),
        closeSession: async (key) => (await openEngine()).closeSession(key),
      },
      maxOutputChars: values.maxOutputChars,
      onTimeout: values.onTimeout,
    });
  });
}

/** Fills in the caller's working directory and variables; a relative `cwd` is resolved against `workingDir`. */
export function withCallDefaults<Request extends Pick<CommandRequest, 'cwd' | 'env'>>(
  request: Request,
  { workingDir, env }: CallDefaults,
): Request {
  const { cwd = workingDir } = request;
  const isRelative = request.cwd !== undefined && workingDir !== undefined && !request.cwd.startsWith('/');
  return {
    ...request,
    cwd: isRelative ? `${workingDir}/${request.cwd}` : cwd,
    env: env === undefined ? request.env : { ...env, ...request.env },
  };
}

/** Remembers the result for the last argument, compared by identity. */
function memoizeLast<Argument, Result>(
  compute: (argument: Argument) => Result,
): (argument: Argument) => Result {
  let last: { readonly argument: Argument; readonly result: Result } | undefined;
  return (argument) => {
    if (last === undefined || last.argument !== argument) last = { argument, result: compute(argument) };
    return last.result;
  };
}
