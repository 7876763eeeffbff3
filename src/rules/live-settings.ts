// Settings of a running server: an edit of the user's settings file takes effect with the next command.
// 1. before each command, `refresh` compares the file's stamp, 2. a changed file is read again,
// 3. settings that the running engine cannot change make every command fail with the process to restart.

import { NacreError, toNacreError } from '../contract/failure.ts';
import { listSettings } from '../settings/define.ts';
import { allSettings } from './all-settings.ts';
import type { Resolved } from './rules-for.ts';

/** The settings that apply to the next command. */
export interface LiveSettings {
  now(): Resolved;
  /** Reads a changed settings file; throws while the file is invalid or needs a restart. */
  refresh(): Promise<void>;
}

/** How a server notices changes of `config.yaml`. */
export interface LiveSettingsDeps {
  /** A text that changes whenever the user's `config.yaml` does. */
  stamp(): string;
  read(): Promise<Resolved>;
  /** Whether commands cannot write the user's `config.yaml`. If they can, a change is not trusted. */
  isOutOfReach(): Promise<boolean>;
  readonly log: (line: string) => void;
}

/** Settings that never change, for `nacre run` and programs. */
export function fixedSettings(resolved: Resolved): LiveSettings {
  return { now: () => resolved, refresh: async () => {} };
}

/** Settings that follow the user's `config.yaml`. */
export function createLiveSettings(started: Resolved, deps: LiveSettingsDeps): LiveSettings {
  let current = started;
  let seen = deps.stamp();
  let fault: NacreError | undefined;
  let updated = Promise.resolve();

  const update = async () => {
    try {
      current = await readChanged(started, current, deps);
      fault = undefined;
    } catch (error) {
      fault = toNacreError(error);
    }
  };
  return {
    now: () => current,
    async refresh() {
      const stamp = deps.stamp();
      if (stamp !== seen) updated = updated.then(update);
      seen = stamp;
      await updated;
      if (fault !== undefined) throw fault;
    },
  };
}

async function readChanged(started: Resolved, current: Resolved, deps: LiveSettingsDeps): Promise<Resolved> {
  const next = await deps.read().catch((error: unknown) => {
    throw whileRunning(toNacreError(error));
  });
  const changes = changesBetween(started, next);
  const bound = changes.filter(({ isBound }) => isBound);
  if (bound.length > 0) throw needsRestart(bound);
  const latest = changesBetween(current, next);
  if (latest.length > 0 && !(await deps.isOutOfReach())) throw withinReach(latest);
  for (const { key, where } of changes.filter(({ isLater }) => isLater))
    deps.log(`nacre: ${key} has changed (${where}); restart this server to apply it.\n`);
  return next;
}

interface Change {
  readonly key: string;
  readonly where: string;
  /** The setting restricts commands, but the running engine still applies the old value. */
  readonly isBound: boolean;
  /** The setting takes effect after a restart and does not restrict commands. */
  readonly isLater: boolean;
}

function changesBetween(before: Resolved, after: Resolved): readonly Change[] {
  const settings = listSettings(allSettings);
  return settings.flatMap(({ name, key, project, live }): readonly Change[] => {
    const one = name as keyof typeof allSettings;
    const text = ({ values, limits }: Resolved) => JSON.stringify([values[one], limits[one]]);
    if (text(before) === text(after)) return [];
    const { source, where } = after.origins[one];
    const place = source === 'default' ? 'no longer set' : where;
    return [
      { key, where: place, isBound: !live && project !== 'never', isLater: !live && project === 'never' },
    ];
  });
}

function needsRestart(changes: readonly Change[]): NacreError {
  return new NacreError(
    'settings_invalid',
    `The settings have changed: ${listChanges(changes)}. They take effect only after a restart, so this server runs no more commands.`,
    { hint: restart },
  );
}

function withinReach(changes: readonly Change[]): NacreError {
  return new NacreError(
    'settings_invalid',
    `The settings have changed: ${listChanges(changes)}. A command could have written them, so this server does not apply them.`,
    { hint: restart },
  );
}

function listChanges(changes: readonly Change[]): string {
  return changes.map(({ key, where }) => `${key} (${where})`).join(', ');
}

const restart = `To apply them, the user has to restart this server (process ${process.pid}) or the client that started it.`;

// At startup an invalid setting aborts nacre, and the hint says so. Here the server keeps running, so the hint changes.
function whileRunning(error: NacreError): NacreError {
  const { code, message, details } = error;
  if (code !== 'settings_invalid') return error;
  return new NacreError(code, message, {
    hint: 'Correct or remove the setting in the settings file; until then no command runs.',
    details: { ...details },
    cause: error,
  });
}
