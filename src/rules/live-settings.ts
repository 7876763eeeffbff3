// Settings of a server that runs: an edit of the user's file holds from the next command on.
// 1. before each command the file's stamp is compared, 2. a file that changed is read anew, 3. what is bound to the running
// engine cannot change with it: then commands are refused, and told what to restart.

import { NacreError, toNacreError } from '../contract/failure.ts';
import { listSettings } from '../settings/define.ts';
import { allSettings } from './all-settings.ts';
import { callersOf, execAllowFor, type Resolved } from './rules-for.ts';

/** The settings in force, now. */
export interface LiveSettings {
  now(): Resolved;
  /** Takes in what has changed; throws for what cannot be taken in, until that is mended. */
  refresh(): Promise<void>;
}

/** How a server learns of changes. */
export interface LiveMeans {
  /** A text that changes with the user's file. */
  stamp(): string;
  read(): Promise<Resolved>;
  /** Whether commands cannot reach the user's file: what a command could have written must not loosen anything. */
  isOutOfReach(): Promise<boolean>;
  readonly log: (line: string) => void;
}

/** Settings that never change. */
export function fixedSettings(resolved: Resolved): LiveSettings {
  return { now: () => resolved, refresh: async () => {} };
}

/** Settings that follow the user's file. */
export function createLiveSettings(started: Resolved, means: LiveMeans): LiveSettings {
  let current = started;
  let seen = means.stamp();
  let fault: NacreError | undefined;
  let taking = Promise.resolve();

  const take = async () => {
    fault = undefined;
    try {
      const next = await means.read();
      const changes = changesBetween(started, next);
      const bound = changes.filter(({ isBound }) => isBound);
      if (bound.length > 0) throw needsRestart(bound);
      const isChanged = changesBetween(current, next).length > 0;
      if (isChanged && !(await means.isOutOfReach())) throw withinReach(changesBetween(current, next));
      for (const { key, where } of changes.filter(({ isLater }) => isLater))
        means.log(`nacre: ${key} has changed (${where}) and holds when this server is started anew.\n`);
      current = next;
    } catch (error) {
      fault = stillRuns(toNacreError(error));
    }
  };
  return {
    now: () => current,
    async refresh() {
      const stamp = means.stamp();
      if (stamp !== seen) taking = taking.then(take);
      seen = stamp;
      await taking;
      if (fault !== undefined) throw fault;
    },
  };
}

interface Change {
  readonly key: string;
  readonly where: string;
  /** It restricts commands, and the running engine holds the old value. */
  readonly isBound: boolean;
  /** It holds when the server is started anew, and restricts nothing. */
  readonly isLater: boolean;
}

function changesBetween(before: Resolved, after: Resolved): readonly Change[] {
  const settings = listSettings(allSettings);
  const changed = settings.flatMap(({ name, key, project, live }): readonly Change[] => {
    const one = name as keyof typeof allSettings;
    const text = ({ values, limits }: Resolved) => JSON.stringify([values[one], limits[one]]);
    if (text(before) === text(after)) return [];
    const { source, where } = after.origins[one];
    const place = source === 'default' ? 'it is no longer set' : where;
    return [
      { key, where: place, isBound: !live && project !== 'never', isLater: !live && project === 'never' },
    ];
  });
  const lists = [before, after].map((one) => JSON.stringify(execAllowFor(callersOf(['tools', 'apps'], one))));
  const isHeld = before.values.exec !== 'off' && lists[0] !== lists[1];
  const { where } = after.origins.allowedCommands;
  return isHeld ? [...changed, { key: 'allowed_commands', where, isBound: true, isLater: false }] : changed;
}

function needsRestart(changes: readonly Change[]): NacreError {
  const names = changes.map(({ key, where }) => `${key} (${where})`).join(', ');
  return new NacreError(
    'settings_invalid',
    `The settings have changed: ${names}. That holds only in a new server, so nothing runs in this one.`,
    { hint: restart },
  );
}

function withinReach(changes: readonly Change[]): NacreError {
  const names = changes.map(({ key, where }) => `${key} (${where})`).join(', ');
  return new NacreError(
    'settings_invalid',
    `The settings have changed: ${names}. Commands could have written them here, so this server does not take them in.`,
    { hint: restart },
  );
}

const restart = `Ask the user to restart this server: process ${process.pid}, or the client that started it.`;

// Nothing was stopped by them, unlike at the start.
function stillRuns(error: NacreError): NacreError {
  const { code, message, hint, details } = error;
  const isStart = /nothing was started/i.test(hint ?? '');
  return new NacreError(code, message, {
    hint: isStart ? 'Correct or remove what is named in the settings file; until then nothing runs.' : hint,
    details: { ...details },
    cause: error,
  });
}
