// The tools of one caller:
// 1. each family's functions are bound to its rules, which are read again before every command,
// 2. `list` builds the tools, again when their time limits change, since those are part of their schemas,
// 3. `instructions` describes the same rules for a model.
import type { Narrowing } from '../contract/narrowing.ts';
import type { CommandRequest } from '../contract/request.ts';
import type { OfferedTools } from '../doors/door.ts';
import { offeredTo } from '../machines/choose-machine.ts';
import type { LiveSettings } from '../rules/live-settings.ts';
import { narrowRules, type Resolved, rulesForFamily } from '../rules/rules-for.ts';
import { timeLimitsFor } from '../rules/time-limits-for.ts';
import { memoizeLast } from '../support/memoize-last.ts';
import { type FamilyDeps, families } from '../tools/catalog.ts';
import { offerMachines } from '../tools/common/offer-machines.ts';
import { prefixTool } from '../tools/common/prefix-tool.ts';
import type { Patience } from '../tools/common/time-limits.ts';
import type { CallDefaults, Tool } from '../tools/common/tool.ts';
import { toFamilies } from '../tools/settings.ts';
import { createInstructions, type RuledFamily, type ToolSources } from './create-instructions.ts';

/** Creates the tools that the settings enable, bound to their rules. */
export function assembleTools(sources: ToolSources, narrowing?: Narrowing): OfferedTools {
  const { settings } = sources;
  const bound = toFamilies(settings.now().values.tools).map((family) => {
    const rulesNow = memoizeLast((resolved: Resolved) =>
      narrowRules(rulesForFamily(family, resolved), narrowing),
    );
    return { family, rulesNow, deps: bindFamily(sources, rulesNow) };
  });
  const lists = {
    usual: createList(settings, 'usual', bound, narrowing?.token),
    long: createList(settings, 'long', bound, narrowing?.token),
  };
  return {
    list: (patience = 'usual') => lists[patience](),
    instructions: createInstructions(sources, bound),
  };
}

/** A tool family with the functions that are bound to its rules. */
interface BoundFamily extends RuledFamily {
  readonly deps: Omit<FamilyDeps, 'timeLimits'>;
}

function bindFamily(
  { settings, openEngine }: ToolSources,
  rulesNow: BoundFamily['rulesNow'],
): BoundFamily['deps'] {
  const { values } = settings.now();
  const rules = async () => {
    await settings.refresh();
    return rulesNow(settings.now());
  };
  return {
    run: async (request, context) =>
      (await openEngine()).run(withCallDefaults(request, context), { ...context, ...(await rules()) }),
    check: async (request, context) =>
      (await openEngine()).check(withCallDefaults(request, context), {
        caller: context.caller,
        ...(await rules()),
      }),
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
    changes: changesOf(openEngine),
    maxOutputChars: values.maxOutputChars,
    onTimeout: values.onTimeout,
  };
}

function changesOf(openEngine: ToolSources['openEngine']): FamilyDeps['changes'] {
  const changes = async () => (await openEngine()).changes;
  return {
    list: async (...args) => (await changes()).list(...args),
    show: async (...args) => (await changes()).show(...args),
    apply: async (...args) => (await changes()).apply(...args),
    discard: async (...args) => (await changes()).discard(...args),
    undo: async (...args) => (await changes()).undo(...args),
  };
}

/** Returns a function that lists the tools; the list is the same object while their time limits are the same. */
function createList(
  settings: LiveSettings,
  patience: Patience,
  bound: readonly BoundFamily[],
  token: string | undefined,
): () => readonly Tool[] {
  let built: { readonly key: string; readonly tools: readonly Tool[]; readonly live: readonly Tool[] };
  const build = memoizeLast((resolved: Resolved) => {
    const limits = bound.map(({ family }) => timeLimitsFor(family, resolved, patience));
    const key = JSON.stringify(limits);
    if (built?.key === key) return built;
    const { toolPrefix } = resolved.values;
    const { machines } = resolved;
    const offered = machines ? offeredTo(machines, { door: 'mcp', token }) : [];
    const tools = bound
      .flatMap(({ family, deps }) =>
        families[family]({ ...deps, timeLimits: timeLimitsFor(family, resolved, patience) }),
      )
      .map((tool) => prefixTool(tool, toolPrefix))
      .map((tool) => offerMachines(tool, offered, machines?.defaultName ?? ''));
    built = {
      key,
      tools,
      live: tools.map((tool) => toLive(tool, settings, () => build(settings.now()).tools)),
    };
    return built;
  });
  return () => build(settings.now()).live;
}

// A caller may have listed the tool before the settings changed; its call has the limits that apply now.
function toLive(tool: Tool, settings: LiveSettings, latest: () => readonly Tool[]): Tool {
  return {
    ...tool,
    async call(input, context) {
      // The call itself reports settings that cannot be applied.
      await settings.refresh().catch(() => {});
      const current = latest().find(({ name }) => name === tool.name) ?? tool;
      return current.call(input, context);
    },
  };
}

/** Fills in the caller's machine, working directory and variables; a relative `cwd` is resolved against `workingDir`. */
export function withCallDefaults<Request extends Pick<CommandRequest, 'on' | 'cwd' | 'env'>>(
  request: Request,
  { on, workingDir, env }: CallDefaults,
): Request {
  const { cwd = workingDir } = request;
  const isRelative = request.cwd !== undefined && workingDir !== undefined && !request.cwd.startsWith('/');
  return {
    ...request,
    on: request.on ?? on,
    cwd: isRelative ? `${workingDir}/${request.cwd}` : cwd,
    env: env === undefined ? request.env : { ...env, ...request.env },
  };
}
