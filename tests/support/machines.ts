import { chmodSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { processesWith } from './processes.ts';
import { temporaryFolder } from './temporary-folder.ts';

/** Machines that a stand-in for ssh reaches: this machine with another home and host name for each of them. */
export interface StandIns {
  /** Has the stand-in. */
  readonly path: string;
  home(machine: string): string;
  /** The processes on a machine. */
  processes(machine: string): readonly number[];
  /** Makes a machine unreachable: connections end, and new ones are refused. */
  cut(machine: string): void;
  heal(machine: string): void;
}

/** Creates stand-ins for the machines with these names, which have `variables` in their environment. */
export function createStandIns(
  names: readonly string[],
  variables: Readonly<Record<string, string>> = {},
): StandIns {
  const folder = temporaryFolder();
  const bin = join(folder, 'bin');
  const home = (name: string) => join(folder, name);
  for (const path of [bin, ...names.map(home)]) mkdirSync(path);
  const stateOf = (name: string) => join(folder, `${name}.cut`);
  writeFileSync(join(bin, 'ssh'), toStandIn(folder, variables));
  chmodSync(join(bin, 'ssh'), 0o755);
  const mark = (name: string) => `STAND_IN=${home(name)}`;
  return {
    path: `${bin}:/usr/local/bin:/usr/bin:/bin`,
    home,
    processes: (name) => processesWith(mark(name)),
    cut(name) {
      writeFileSync(stateOf(name), 'yes');
    },
    heal(name) {
      writeFileSync(stateOf(name), 'no');
    },
  };
}

// The host is the word before the command. While it is cut, ssh fails as if nothing listened.
const toStandIn = (folder: string, variables: Readonly<Record<string, string>>) => `#!/bin/bash
host=\${*: -2:1} command=\${*: -1}
cut=${folder}/$host.cut
if [ ! -d ${folder}/$host ]; then echo "ssh: Could not resolve hostname $host: Name or service not known" >&2; exit 255; fi
if [ "$(cat $cut 2>/dev/null)" = yes ]; then echo "ssh: connect to host $host port 22: Connection refused" >&2; exit 255; fi
exec env -i PATH="${join(process.execPath, '..')}:/usr/local/bin:/usr/bin:/bin" HOME=${folder}/$host STAND_IN=${folder}/$host ${toWords(variables)} /bin/sh -c "$command"
`;

const toWords = (variables: Readonly<Record<string, string>>) =>
  Object.entries(variables)
    .map(([name, value]) => `${name}='${value}'`)
    .join(' ');
