import { NacreError } from '../../contract/failure.ts';
import type { Outcome } from '../../contract/outcome.ts';
import { approval } from '../approval/approval.ts';
import type { RunCall } from '../context/call-context.ts';
import type { EngineDeps } from '../context/engine-deps.ts';
import type { Admission } from '../journey/admit.ts';

/**
 * Asks the user about the changes that a command has made while they are held: they are applied if the user approves, and
 * discarded if they decline. Without an answer they stay held.
 */
export async function askAboutChanges(
  deps: EngineDeps,
  outcome: Outcome,
  { decision, toAsk }: Admission,
  { id, caller, owner, signal, askUser }: RunCall,
): Promise<Outcome> {
  const { changes } = outcome;
  if (changes === undefined || toAsk === undefined) return outcome;
  const { audit, backend, inbox } = deps;
  try {
    const asked = { ...toAsk, changes };
    const onLateAnswer = (kind: 'approved' | 'declined') => void settle(deps, kind, { id, caller });
    const request = { decision, asked, id, caller, owner, signal, changes, onLateAnswer };
    const { by } = await approval(request, askUser ?? inbox?.ask);
    audit.record({ kind: 'approved', id, caller, by });
  } catch (error) {
    if (!(error instanceof NacreError)) throw error;
    return error.code === 'policy_denied'
      ? discardDeclined(backend, outcome, id)
      : withWarning(
          outcome,
          `${held} until the user approves them. Do not run it again: nothing more is needed.`,
        );
  }
  try {
    const { state, conflicts } = await backend.applyChanges({ id });
    return { ...outcome, changes: { ...changes, conflicts, state: state === 'gone' ? 'applied' : state } };
  } catch (error) {
    return withWarning(outcome, `${held}, although the user approved them: ${messageOf(error)} ${next(id)}`);
  }
}

const held = 'The changes of this command are held';
const next = (id: string) => `nacre apply ${id} applies them.`;

// The call already has its reply. If this fails, the changes stay held, and `nacre changes` lists them.
async function settle(
  { audit, backend }: EngineDeps,
  kind: 'approved' | 'declined',
  { id, caller }: Pick<RunCall, 'id' | 'caller'>,
): Promise<void> {
  const action = kind === 'approved' ? 'apply' : 'discard';
  try {
    audit.record({ kind: 'changes', id, caller, action, paths: [] });
    await backend[`${action}Changes`]({ id });
  } catch {
    return;
  }
}

async function discardDeclined(
  backend: EngineDeps['backend'],
  outcome: Outcome,
  id: string,
): Promise<Outcome> {
  try {
    await backend.discardChanges({ id });
  } catch (error) {
    return withWarning(outcome, `${held}: the user declined them, but ${messageOf(error)}`);
  }
  const { changes: _changes, ...rest } = outcome;
  return withWarning(rest, 'The user declined the changes of this command: they were discarded.');
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

function withWarning(outcome: Outcome, warning: string): Outcome {
  return { ...outcome, warnings: [...outcome.warnings, warning] };
}
