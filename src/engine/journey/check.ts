import type { Decision } from '../../contract/decision.ts';
import type { CommandRequest } from '../../contract/request.ts';
import { decide } from '../../policy/decide.ts';
import { decideCwd } from '../../policy/decide-cwd.ts';
import { understand } from '../../policy/understand.ts';
import type { EngineParts, RunContext } from '../run.ts';

/** What would become of a command, and where its programs are. */
export interface Checked {
  readonly decision: Decision;
  readonly cwd: string;
  /** Where the server's PATH finds each program; null when it does not. */
  readonly found: Readonly<Record<string, string | null>>;
}

/** The first half of a command's journey: understand, inspect, decide. Nothing runs. */
export async function check(
  { backend }: Pick<EngineParts, 'backend'>,
  request: Pick<CommandRequest, 'command' | 'cwd' | 'env'>,
  { rules, cwdRoots }: Pick<RunContext, 'rules' | 'cwdRoots'>,
): Promise<Checked> {
  const plan = understand(request.command, { env: request.env, stdin: { kind: 'none' } });
  const facts = await backend.inspect({ cwd: request.cwd, roots: cwdRoots.flat(), programs: plan.programs });
  const cwd = decideCwd(facts, cwdRoots, { given: request.cwd !== undefined });
  return { decision: decide(plan, facts, rules), cwd, found: facts.programs };
}
