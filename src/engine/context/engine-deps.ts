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
  /** Present if background commands and persistent shells outlive this process. */
  readonly outlive?: OutliveOptions | undefined;
  /** Stores approval requests of callers that cannot prompt a user; undefined if no one could answer them. */
  readonly inbox?: ApprovalInbox | undefined;
}

/** How commands of an earlier process are found again. */
export interface OutliveOptions {
  /** The project folder of the server, which is part of the identity of its clients. */
  readonly project: string;
  /** `view` shows the commands of all clients to the local user, without taking them up. */
  readonly mode: 'use' | 'view';
}
