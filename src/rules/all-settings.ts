import { auditSettings } from '../audit/settings.ts';
import { httpSettings } from '../doors/settings.ts';
import { machineSettings } from '../machines/settings.ts';
import { monitorSettings } from '../monitor/settings.ts';
import { outputSettings } from '../output/settings.ts';
import { policySettings } from '../policy/settings.ts';
import { recordingSettings } from '../recordings/settings.ts';
import { sessionSettings } from '../sessions/settings.ts';
import { defineSettings, type Values } from '../settings/define.ts';
import { toolSettings } from '../tools/settings.ts';
import { workerSettings } from '../worker/settings.ts';

/** Every folder's settings, by their heading in help and reference. */
export const settingGroups = {
  Policy: policySettings,
  Tools: toolSettings,
  HTTP: httpSettings,
  Commands: workerSettings,
  Machines: machineSettings,
  Output: outputSettings,
  Sessions: sessionSettings,
  Audit: auditSettings,
  Monitoring: monitorSettings,
  Recording: recordingSettings,
};

/** Every setting, by its name in camelCase (`ringBytes`). */
export const allSettings = defineSettings({
  ...policySettings,
  ...toolSettings,
  ...httpSettings,
  ...workerSettings,
  ...machineSettings,
  ...outputSettings,
  ...sessionSettings,
  ...auditSettings,
  ...monitorSettings,
  ...recordingSettings,
});

/** The values of `allSettings`. */
export type Settings = Values<typeof allSettings>;
