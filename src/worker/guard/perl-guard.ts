import { capabilityCalls } from './capability-calls.ts';
import type { GuardOptions } from './guard-rules.ts';
import { type Ruleset, rightsOfFiles, rightsSince, scopesSince, toRuleset } from './landlock-ruleset.ts';
import { pathFlags } from './path-flags.ts';
import { capabilitiesToDrop, capabilitiesToKeep, filterFor, truncateVersion } from './restrictions.ts';

// openat, close and prctl.
const calls: Readonly<Record<string, readonly number[]>> = { x64: [257, 3, 157], arm64: [56, 57, 167] };

/** Whether exec-guard.pl supports the architecture of this machine. */
export const hasPerlCalls = process.arch in calls;

/** The rules as words that exec-guard.pl parses; it can neither parse JSON nor look up the numbers of system calls. */
export function toPerlWords(options: GuardOptions): readonly string[] {
  const { fds, env, readyFd } = options;
  const { handled, scopes, grants, readable, descriptors } = toRuleset(options);
  return [
    `calls=${(calls[process.arch] ?? []).join(',')}`,
    `open=${pathFlags}`,
    `handled=${handled}`,
    ...rightsSince.map(([version, right]) => `since=${version},${right}`),
    `scopes=${scopes}`,
    `scopesSince=${scopesSince}`,
    `ofFiles=${rightsOfFiles}`,
    ...grants.map(({ path, access }) => `grant=${access},${path}`),
    ...(readable ? toReading(readable) : []),
    `descriptors=${descriptors}`,
    `fds=${fds.join(',')}`,
    `capabilities=${capabilitiesToDrop(options).join(',')}`,
    `capabilityCalls=${capabilityCalls.get},${capabilityCalls.set}`,
    `keptCapabilities=${capabilitiesToKeep(options)}`,
    `oldBelow=${truncateVersion}`,
    `oldFilter=${filterFor(options, truncateVersion - 1).toString('hex')}`,
    `filter=${filterFor(options, truncateVersion).toString('hex')}`,
    ...Object.entries(env).map(([name, value]) => `env=${name}=${value}`),
    ...(readyFd === undefined ? [] : [`ready=${readyFd}`]),
  ];
}

function toReading({ from, hidden, access }: NonNullable<Ruleset['readable']>): readonly string[] {
  return [`read=${access}`, ...from.map((path) => `from=${path}`), ...hidden.map((path) => `hidden=${path}`)];
}
