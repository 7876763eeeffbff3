import type { SettingInForce } from '../door.ts';
import { isInFile } from './is-in-file.ts';
import type { Told } from './told-before.ts';

/** Whether an entry or the user's settings name what stays writable in a sandbox; else it is the folder itself. */
export function namesWorkspace(settings: readonly SettingInForce[], { env = {}, more }: Told): boolean {
  const isInEntry = env.NACRE_WORKSPACE !== undefined || more.some((word) => /^--workspace(=|$)/.test(word));
  return isInEntry || isInFile(settings, 'workspace');
}
