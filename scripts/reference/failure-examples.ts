// One real failure a code, made by the code that makes it for users.
import { z } from 'zod';
import { readAuditKey } from '../../src/audit/audit-key.ts';
import type { Backend } from '../../src/contract/backend.ts';
import { type FailureCode, NacreError, shuttingDown, toNacreError } from '../../src/contract/failure.ts';
import type { JobSpec } from '../../src/contract/job.ts';
import { approval, type Question, refused } from '../../src/engine/approval.ts';
import { cancelledBeforeStart } from '../../src/engine/follow.ts';
import { decideCwd } from '../../src/policy/decide-cwd.ts';
import { allSettings } from '../../src/rules/all-settings.ts';
import { createSessions } from '../../src/sessions/sessions.ts';
import { resolveSettings } from '../../src/settings/resolve-settings.ts';
import { receive } from '../../src/tools/receive.ts';
import { toWritable } from '../../src/worker/sandbox/sandbox-plan.ts';
import { programMissing } from '../../src/worker/start/start-failures.ts';
import { decideExample, place } from './policy-examples.ts';

/** What each code means, and a failure with it. */
export const failureExamples: Readonly<
  Record<FailureCode, { readonly meaning: string; readonly fail: () => unknown }>
> = {
  invalid_request: {
    meaning: 'The call itself is wrong.',
    fail: () => receive('execute_command', z.strictObject({ command: z.string() }), { comand: 'ls' }),
  },
  cwd_invalid: {
    meaning: 'The directory cannot be used.',
    fail: () => decideCwd({ ...place, cwd: { asked: '/srv/gone', problem: 'missing' } }, [], { given: true }),
  },
  cwd_not_allowed: {
    meaning: 'The directory lies outside of what callers may choose.',
    fail: () =>
      decideCwd({ ...place, cwd: { asked: '../other', path: '/srv/other' } }, [['/srv/app']], {
        given: true,
      }),
  },
  cwd_roots_invalid: {
    meaning: 'The directories that callers may choose are not there.',
    fail: () =>
      decideCwd({ ...place, roots: [{ asked: '/srv/typo', problem: 'missing' }] }, [['/srv/typo']], {
        given: true,
      }),
  },
  policy_denied: {
    meaning: 'The rules, or the user, do not allow it.',
    fail: () => {
      throw refused(decideExample('git status && curl example.com', { list: ['git', 'ls'] }));
    },
  },
  approval_required: {
    meaning: 'The user has to agree and has not yet.',
    fail: () => approval(questionAbout('terraform apply')),
  },
  program_not_found: {
    meaning: 'There is no such program.',
    fail: () => {
      throw programMissing('gti');
    },
  },
  job_not_found: {
    meaning: 'There is no such command, shell or question, or it is of somebody else.',
    fail: () => createSessions(noBackend, { maxRunning: 1, tombstoneSeconds: 1 }).book.find('me', 'cmd_41c2'),
  },
  audit_unavailable: {
    meaning: 'What cannot be recorded does not run.',
    fail: () => readAuditKey('/etc/nacre/audit.key'),
  },
  resources_unavailable: {
    meaning: 'The machine, or the settings, have no room for it now.',
    fail: () => createSessions(noBackend, { maxRunning: 0, tombstoneSeconds: 1 }).start({} as JobSpec),
  },
  isolation_unavailable: {
    meaning: 'What the settings demand cannot be enforced here.',
    fail: () =>
      toWritable(
        { cwd: '/', home: '/root', ownFiles: { find: () => [] }, isRoot: true },
        { workspace: ['/usr'], sandbox: 'workspace' } as unknown as Parameters<typeof toWritable>[1],
        '/',
      ),
  },
  shutting_down: {
    meaning: 'The server ends.',
    fail: () => {
      throw shuttingDown();
    },
  },
  cancelled: {
    meaning: 'The caller took the call back.',
    fail: () => {
      throw cancelledBeforeStart();
    },
  },
  settings_invalid: {
    meaning: 'A setting is wrong, or holds only after a restart.',
    fail: () => resolveSettings({ env: { NACRE_SANDBOX: 'jail' } }, allSettings),
  },
  internal: {
    meaning: 'A fault of nacre; over HTTP only the log has the details.',
    fail: () => {
      throw toNacreError(new TypeError('x is not a function'));
    },
  },
};

/** The failure of an example. */
export async function failureOf(code: FailureCode): Promise<NacreError> {
  const made = await Promise.resolve()
    .then(failureExamples[code].fail)
    .catch((error: unknown) => error);
  if (made instanceof NacreError && made.code === code) return made;
  throw new Error(`The example of ${code} made ${String(made)}`);
}

const noBackend = {} as Backend;

function questionAbout(script: string): Question {
  const command = { kind: 'shell', script } as const;
  return {
    decision: decideExample(script, { confirm: 'unlisted' }),
    asked: { command, cwd: '/srv/app', env: {}, input: null, into: null, sandbox: null },
    id: 'cmd_41c2',
    caller: { door: 'mcp', client: 'example' },
    owner: undefined,
    signal: undefined,
  };
}
