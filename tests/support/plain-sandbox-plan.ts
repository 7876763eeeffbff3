import type { SandboxPlan } from '../../src/worker/sandbox/sandbox-plan.ts';

/** A plan that hides nothing: only the namespaces that every supervised command gets. */
export const plainSandboxPlan: SandboxPlan = {
  isolation: {
    sandbox: 'off',
    network: 'on',
    networkAllow: [],
    processes: 'own',
    workspace: [],
    homeShow: [],
    unprotected: [],
  },
  writable: [],
  homes: [],
  shown: { homes: [], paths: [], links: [], listed: [] },
  ownFiles: [],
  keyStores: [],
  protected: { readOnly: [], fixed: [], missing: [] },
  isRoot: false,
  extraMounts: [],
  sockets: () => [],
};
