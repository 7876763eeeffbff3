import type { SandboxPlan } from '../../src/worker/sandbox/sandbox-plan.ts';

/** A plan that hides nothing: only the namespaces that every supervised command gets. */
export const plainSandboxPlan: SandboxPlan = {
  isolation: { sandbox: 'off', network: 'on', networkAllow: [], processes: 'own', workspace: [] },
  writable: [],
  home: [],
  ownFiles: [],
  keyStores: [],
  isRoot: false,
  extraMounts: [],
  sockets: () => [],
};
