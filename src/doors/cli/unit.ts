import { resolve } from 'node:path';
import type { GivenSetting } from '../../settings/parse-flags.ts';
import type { Arguments, FlagAccess, IoAccess, ProcessAccess } from '../door.ts';
import { print } from '../print.ts';
import { quoteForSystemd, serviceFlags, toExecStart, toUnit } from './unit/to-unit.ts';

type UnitDeps = FlagAccess<{ readonly config?: string | undefined }> & IoAccess & Arguments & ProcessAccess;

/** `nacre unit`: prints a systemd user unit that starts this nacre, by the paths of its node and script. */
export async function unitDoor({ io, flags, given, cwd, program }: UnitDeps): Promise<number> {
  const { node, script } = program;
  for (const warning of warnOfTemporary(script)) await print(io.stderr, `nacre: warning: ${warning}\n`);
  const config = flags.config === undefined ? [] : [`--config=${resolve(cwd, flags.config)}`];
  const words = [...config, ...given.map((one) => toFlag(one, cwd))].map(quoteForSystemd);
  const isGiven = (flag: string) => given.some((one) => one.flags.includes(flag.split('=')[0] ?? ''));
  const defaults = serviceFlags.filter((flag) => !isGiven(flag));
  const start = toExecStart(node, [quoteForSystemd(script), 'serve', ...defaults, ...words]);
  await print(io.stdout, toUnit(introduction, start), io.interrupted);
  return 0;
}

const introduction = [
  'A systemd unit for one user, written by nacre unit. Run this again after you move or remove this node or nacre:',
  '  nacre unit > ~/.config/systemd/user/nacre.service && systemctl --user daemon-reload',
  '  systemctl --user enable --now nacre',
];

function toFlag({ flags: [flag = ''], kind, text }: GivenSetting, cwd: string): string {
  const paths = kind === 'paths' ? text.split(',').flatMap((path) => path.trim() || []) : [text];
  return `${flag}=${kind === 'other' ? text : paths.map((path) => resolve(cwd, path)).join(',')}`;
}

function warnOfTemporary(script: string): readonly string[] {
  if (!/[\\/]_npx[\\/]/.test(script)) return [];
  return [
    `the unit names ${script}, which npm may delete at any time. Install the package with npm install --global, then run nacre unit again.`,
  ];
}
