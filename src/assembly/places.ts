import { join, resolve } from 'node:path';
import type { Places } from '../doors/door.ts';
import type { Settings } from '../rules/all-settings.ts';
import { configHomeOf, stateDirOf } from '../rules/home-folders.ts';
import type { SettingsLocation } from '../rules/resolve-now.ts';

/** Resolves nacre's own folders and files from `state_dir`, `audit_dir`, `audit_key` and XDG_STATE_HOME. */
export function toPlaces(values: Settings, { env, cwd, config }: SettingsLocation): Places {
  const stateDir = resolve(cwd, values.stateDir ?? stateDirOf(env));
  const dir = resolve(cwd, values.auditDir ?? join(stateDir, 'audit'));
  const keyPath = values.auditKey === undefined ? undefined : resolve(cwd, values.auditKey);
  return {
    stateDir,
    audit: {
      dir,
      keyPath,
      retention: { keepDays: values.auditKeepDays, maxBytes: values.auditMaxBytes },
    },
    workflowDir: join(stateDir, 'workflows'),
    recordingDir: join(stateDir, 'recordings'),
    backupDir: join(stateDir, 'backups'),
    settingsFile:
      config === undefined ? join(configHomeOf(env), 'nacre', 'config.yaml') : resolve(cwd, config),
    controlDir: join(stateDir, 'control'),
  };
}
