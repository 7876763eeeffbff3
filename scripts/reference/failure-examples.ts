// One real failure for each code, produced by the same functions as for users.
import { z } from 'zod';
import { readAuditKey } from '../../src/audit/audit-key.ts';
import type { Backend } from '../../src/contract/backend.ts';
import {
  type FailureCode,
  instanceClosed,
  NacreError,
  shuttingDown,
  toNacreError,
} from '../../src/contract/failure.ts';
import type { JobSpec } from '../../src/contract/job.ts';
import { type ApprovalRequest, approval, deniedError } from '../../src/engine/approval/approval.ts';
import { cancelledBeforeStart } from '../../src/engine/journey/admit.ts';
import { decideCwd } from '../../src/policy/decide-place.ts';
import { allSettings } from '../../src/rules/all-settings.ts';
import { createSessions } from '../../src/sessions/sessions.ts';
import { resolveSettings } from '../../src/settings/resolve-settings.ts';
import { receive } from '../../src/tools/common/define-tool.ts';
import { toWritable } from '../../src/worker/sandbox/workspace.ts';
import { checkStart, programMissing } from '../../src/worker/start/start-failures.ts';
import { decideExample, place } from './policy-examples.ts';

/** The meaning of each code, and a function that fails with it. */
export const failureExamples: Readonly<
  Record<FailureCode, { readonly meaning: string; readonly fail: () => unknown }>
> = {
  invalid_request: {
    meaning: 'The call is invalid.',
    fail: () => receive('execute_command', z.strictObject({ command: z.string() }), { comand: 'ls' }),
  },
  cwd_invalid: {
    meaning: 'The directory cannot be used.',
    fail: () => decideCwd({ ...place, cwd: { asked: '/srv/gone', problem: 'missing' } }, [], { given: true }),
  },
  cwd_not_allowed: {
    meaning: 'The directory is outside the directories that callers may choose.',
    fail: () =>
      decideCwd({ ...place, cwd: { asked: '../other', path: '/srv/other' } }, [['/srv/app']], {
        given: true,
      }),
  },
  cwd_roots_invalid: {
    meaning: 'The directories that callers may choose do not exist.',
    fail: () =>
      decideCwd({ ...place, roots: [{ asked: '/srv/typo', problem: 'missing' }] }, [['/srv/typo']], {
        given: true,
      }),
  },
  policy_denied: {
    meaning: 'The rules or the user do not allow it.',
    fail: () => {
      throw deniedError(decideExample('git status && curl example.com', { list: ['git', 'ls'] }));
    },
  },
  approval_required: {
    meaning: 'The user must approve it and has not done so yet.',
    fail: () => approval(questionAbout('terraform apply')),
  },
  program_not_found: {
    meaning: 'There is no such program.',
    fail: () => {
      throw programMissing('gti');
    },
  },
  cannot_execute: {
    meaning: 'The kernel cannot execute the program: no known format, or an argument that is too long.',
    fail: () => checkStart({ kind: 'argv', argv: ['printf', 'x'.repeat(140_000)] }, '/', '/usr/bin:/bin'),
  },
  job_not_found: {
    meaning: 'There is no such command, shell or approval request, or it belongs to another caller.',
    fail: () =>
      createSessions(noBackend, { maxRunning: 1, tombstoneSeconds: 1 }).registry.find('me', 'cmd_41c2'),
  },
  audit_unavailable: {
    meaning: 'The audit log cannot be written, so nothing runs.',
    fail: () => readAuditKey('/etc/nacre/audit.key'),
  },
  resources_unavailable: {
    meaning: 'The machine or the settings do not allow another command now.',
    fail: () => createSessions(noBackend, { maxRunning: 0, tombstoneSeconds: 1 }).prepare({} as JobSpec),
  },
  isolation_unavailable: {
    meaning: 'The isolation that the settings require cannot be enforced here.',
    fail: () =>
      toWritable(
        {
          cwd: '/',
          homes: { named: '/root', own: [], all: ['/root'], hidden: [] },
          ownFiles: { find: () => [] },
        },
        { workspace: ['/usr'], sandbox: 'workspace' } as unknown as Parameters<typeof toWritable>[1],
        '/',
      ),
  },
  shutting_down: {
    meaning: 'The server is shutting down.',
    fail: () => {
      throw shuttingDown();
    },
  },
  closed: {
    meaning: 'A program called its instance of nacre, or a function of the package, after `close`.',
    fail: () => {
      throw instanceClosed();
    },
  },
  cancelled: {
    meaning: 'The caller cancelled the call.',
    fail: () => {
      throw cancelledBeforeStart();
    },
  },
  settings_invalid: {
    meaning: 'A setting is invalid, or applies only after a restart.',
    fail: () => resolveSettings({ env: { NACRE_SANDBOX: 'jail' } }, allSettings),
  },
  internal: {
    meaning: 'A bug in nacre; over HTTP the details are only in the log.',
    fail: () => {
      throw toNacreError(new TypeError('x is not a function'));
    },
  },
};

/** Runs an example and returns its failure. */
export async function failureOf(code: FailureCode): Promise<NacreError> {
  const made = await Promise.resolve()
    .then(failureExamples[code].fail)
    .catch((error: unknown) => error);
  if (made instanceof NacreError && made.code === code) return made;
  throw new Error(`The example for ${code} produced ${String(made)}`);
}

const noBackend = {} as Backend;

function questionAbout(script: string): ApprovalRequest {
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
