import { toNacreError } from '../contract/failure.ts';
import type { OfferedTools } from '../doors/door.ts';
import type { Engine } from '../engine/engine.ts';
import type { LiveSettings } from '../rules/live-settings.ts';
import type { CallerRules, Resolved } from '../rules/rules-for.ts';
import { timeLimitsFor } from '../rules/time-limits-for.ts';
import { type ConnectionFacts, toInstructions } from '../rules/to-instructions.ts';
import { settlesWithin } from '../support/timing.ts';
import type { Patience } from '../tools/common/time-limits.ts';
import type { ToolFamily } from '../tools/settings.ts';

/** Sources of the tools of one caller. */
export interface ToolSources {
  readonly settings: LiveSettings;
  /** Called by the first call that needs the engine. */
  openEngine(): Promise<Engine>;
  /** The directory that commands run in by default. */
  readonly cwd: string;
}

/** A tool family with the rules of its caller. */
export interface RuledFamily {
  readonly family: ToolFamily;
  rulesNow(resolved: Resolved): CallerRules;
}

/** Returns a function that describes the current rules for a model; the text is computed once per change of settings. */
export function createInstructions(
  sources: ToolSources,
  bound: readonly RuledFamily[],
): OfferedTools['instructions'] {
  const known: Partial<Record<Patience, { readonly of: Resolved; readonly text: string }>> = {};
  return async (patience = 'usual') => {
    const resolved = sources.settings.now();
    const last = known[patience];
    if (last?.of === resolved) return last.text;
    const families = bound.map(({ family, rulesNow }) => ({
      ...rulesNow(resolved),
      family,
      limits: timeLimitsFor(family, resolved, patience),
    }));
    const { networkAllow, workspace, toolPrefix } = resolved.values;
    const { isKnown, ...machine } = await isolationOf(sources, resolved.values);
    const text = toInstructions({
      ...{ families, cwd: sources.cwd, networkAllow, workspace, toolPrefix },
      ...machine,
    });
    if (isKnown) known[patience] = { of: resolved, text };
    return text;
  };
}

// Some clients give up on a server that does not answer `initialize` within 1.5 s.
const reportMs = 800;

interface FoundIsolation extends Pick<ConnectionFacts, 'isolation' | 'fault'> {
  /** False if the machine's part is missing; the next request asks again. */
  readonly isKnown: boolean;
}

// Namespaces enforce the sandbox on most machines; the report corrects it.
const unknown = { files: 'namespace' } as const;

/** The isolation of commands; without a sandbox it does not depend on the machine, so the engine is not needed. */
async function isolationOf(
  { openEngine }: ToolSources,
  { sandbox, network, networkAllow }: Resolved['values'],
): Promise<FoundIsolation> {
  if (sandbox === 'off' && networkAllow.length === 0)
    return { isolation: { ...unknown, sandbox, network: 'on' }, isKnown: true };
  const isOn = sandbox === 'workspace' && network === 'on';
  const wanted = {
    ...unknown,
    sandbox,
    network: isOn ? 'on' : networkAllow.length > 0 ? 'filtered' : 'off',
  } as const;
  const report = openEngine().then((engine) => engine.report());
  try {
    if (!(await settlesWithin(report, reportMs))) return { isolation: wanted, isKnown: false };
    return { isolation: await report, isKnown: true };
  } catch (error) {
    return { isolation: wanted, fault: toNacreError(error).message, isKnown: false };
  }
}
