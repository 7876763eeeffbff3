import type { DoorEntry } from '../doors/door.ts';
import type { SettingGroups } from '../settings/define.ts';
import { toHelp } from '../settings/to-help.ts';

/** The text of `nacre --help`. */
export function toOverview(doors: Readonly<Record<string, DoorEntry>>, groups: SettingGroups): string {
  const width = Math.max(...Object.keys(doors).map((name) => name.length));
  const rows = Object.entries(doors).map(([name, { summary }]) => `  ${name.padEnd(width)}  ${summary}`);
  return [
    'nacre: run shell commands for agents and people, safely.',
    '',
    'Usage: nacre COMMAND [FLAG...] [ARGUMENT...]',
    '',
    ...rows,
    '',
    'Run nacre COMMAND --help for the flags of one command, and nacre --version for the version.',
    'You can also set the flags below with environment variables, in the nacre.yaml of a project (which can',
    'only make them stricter) and in ~/.config/nacre/config.yaml, or in the file that --config names instead.',
    '',
    toHelp(groups),
    '',
  ].join('\n');
}

/** The text of `nacre COMMAND --help`. */
export function toUsage(name: string, entry: DoorEntry, groups: SettingGroups): string {
  const usage = ['nacre', name, '[FLAG...]', entry.usage].join(' ').trimEnd();
  return `${entry.summary}\n\nUsage: ${usage}\n\n${toHelp({ Flags: entry.flags, ...groups })}\n`;
}
