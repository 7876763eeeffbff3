import type { Rules } from '../contract/decision.ts';
import { toNacreError } from '../contract/failure.ts';
import type { MachineReport } from '../contract/report.ts';
import type { ServerDescription } from '../doors/door.ts';
import type { Engine } from '../engine/engine.ts';
import { type Resolved, rulesForFamily, rulesForShell } from '../rules/rules-for.ts';
import type { ServerStatus } from '../servers/server-status.ts';
import { version } from './version.ts';

/** The parts of a server that `toServerStatus` looks at. */
export interface StatusDeps {
  readonly cwd: string;
  engine(): Promise<Engine>;
  /** The settings in effect. */
  now(): Resolved;
  describe(): ServerDescription;
}

/** The state of this server for `nacre status`. */
export async function toServerStatus(deps: StatusDeps): Promise<ServerStatus> {
  const { door, address = null, clients } = deps.describe();
  const now = deps.now();
  const { rules } = rulesForFamily('terminal', now);
  return {
    pid: process.pid,
    version,
    door,
    address,
    started_at: new Date(Date.now() - process.uptime() * 1_000).toISOString(),
    cwd: deps.cwd,
    clients,
    preset: rules.preset ?? null,
    allowed: toNames(rules),
    apps_allowed: door === 'http' ? toNames(rulesForShell(now).rules) : null,
    ...(await examine(deps)),
  };
}

function toNames({ allow }: Rules): readonly string[] {
  if (allow.kind === 'all') return ['*'];
  return allow.kind === 'names' ? allow.names : [];
}

type Examined = Pick<
  ServerStatus,
  'instance' | 'sandbox' | 'supervision' | 'network' | 'problem' | 'running'
>;

async function examine({ engine: openEngine }: StatusDeps): Promise<Examined> {
  try {
    const engine = await openEngine();
    const { sandbox, supervision, network }: MachineReport = await engine.report();
    const { instance } = engine;
    return { instance, sandbox, supervision, network, problem: null, running: engine.countRunning() };
  } catch (error) {
    const { message } = toNacreError(error);
    return { instance: null, sandbox: null, supervision: null, network: null, problem: message, running: 0 };
  }
}
