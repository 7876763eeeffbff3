import type { Client } from '../../../clients/clients.ts';
import { type FileValues, fileVariables, type Variables } from './choice.ts';
import type { ChosenEntry } from './choose-entry.ts';
import { describeAllowed } from './parse-entry.ts';

/**
 * Lines that show the settings of a client and the file that each comes from; `file` has the settings after the change.
 */
export function summarise(
  { title, startsInProject }: Client,
  { project, entry, notes }: ChosenEntry,
  file: FileValues,
): readonly string[] {
  const { env } = entry;
  const stored = fileVariables(file);
  const level = env.NACRE_SANDBOX ?? stored.NACRE_SANDBOX ?? 'off';
  return [
    `  folder    ${project ?? (startsInProject ? `the working folder of ${title}` : `wherever ${title} starts it`)}`,
    `  commands  ${describe(describeAllowed(env), describeAllowed(stored), 'none')}`,
    `  sandbox   ${describe(env.NACRE_SANDBOX ?? '', stored.NACRE_SANDBOX ?? '', 'off')}`,
    `  network   ${describe(describeNetwork(env), describeNetwork(stored), level === 'off' ? 'as without nacre' : 'off')}`,
    ...notes,
  ];
}

function describe(own: string, stored: string, unset: string): string {
  if (own !== '') return `${own} (in the entry)`;
  return stored === '' ? unset : `${stored} (in your settings file)`;
}

function describeNetwork({
  NACRE_NETWORK: network = '',
  NACRE_NETWORK_ALLOW: hosts = '',
}: Variables): string {
  return [
    network,
    hosts
      .split(',')
      .filter((host) => host !== '')
      .join(', '),
  ]
    .filter((part) => part !== '')
    .join(', ');
}
