import type { AuditLog } from '../../audit/audit-log.ts';
import type { Backend, StopOptions } from '../../contract/backend.ts';
import type { Matcher } from '../../output/matcher.ts';
import type { DecisionCache } from '../../policy/decision-cache.ts';
import type { Sessions } from '../../sessions/sessions.ts';
import type { ApprovalInbox } from '../approval/approval-inbox.ts';
import type { OwnRecords } from './own-records.ts';
import type { SensitivePlaces } from './sensitive-places.ts';

/** Everything that the engine's functions depend on; `createEngine` builds it once. */
export interface EngineDeps {
  readonly backend: Backend;
  readonly sessions: Sessions;
  readonly audit: AuditLog;
  readonly matcher: Matcher;
  readonly decisions: DecisionCache;
  /** Signal and grace for commands whose call's `signal` fires. */
  readonly stopOnCancel: StopOptions;
  readonly ownRecords: OwnRecords;
  readonly sensitivePlaces: SensitivePlaces;
  /** Stores approval requests of callers that cannot prompt a user; undefined if no one could answer them. */
  readonly inbox?: ApprovalInbox | undefined;
}
