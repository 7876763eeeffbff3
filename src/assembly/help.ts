import type { DoorEntry } from '../doors/door.ts';
import type { SettingGroups } from '../settings/define.ts';
import { toHelp } from '../settings/to-help.ts';

/** What `nacre --help` prints. */
export function toOverview(doors: Readonly<Record<string, DoorEntry>>, groups: SettingGroups): string {
  const width = Math.max(...Object.keys(doors).map((name) => name.length));
  const rows = Object.entries(doors).map(([name, { summary }]) => `  ${name.padEnd(width)}  ${summary}`);
  return [
    'nacre: run shell commands for agents and people, safely.',
    '',
    'Usage: nacre COMMAND [FLAG...] [WORD...]',
    '',
    ...rows,
    '',
    'nacre COMMAND --help shows the flags of one command; nacre --version the version.',
    'Settings also come from the environment, ./nacre.yaml (which can only tighten) and ~/.config/nacre/config.yaml,',
    'or in its place the file that --config names.',
    '',
    toHelp(groups),
    '',
  ].join('\n');
}

/** What `nacre COMMAND --help` prints. */
export function toUsage(name: string, entry: DoorEntry, groups: SettingGroups): string {
  const usage = ['nacre', name, '[FLAG...]', entry.usage].join(' ').trimEnd();
  return `${entry.summary}\n\nUsage: ${usage}\n\n${toHelp({ Flags: entry.flags, ...groups })}\n`;
}
