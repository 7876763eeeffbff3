// Clients whose own shell is off. Without nacre they have no shell at all, and only the user knows whether nacre turned
// it off.
import { type Client, clients, type Scope } from '../../../clients/clients.ts';
import { openConfigFile } from '../../../clients/config-file.ts';
import { ownShells } from '../../../clients/own-shell.ts';
import { quoteWord } from '../../../support/quote.ts';
import type { ProcessAccess } from '../../door.ts';

/** A sentence for each own shell that is off, for the clients that lose nacre, in the user's files and those of `folders`. */
export function findShellsOff(
  { machine }: Pick<ProcessAccess, 'machine'>,
  losing: ReadonlySet<Client>,
  folders: readonly string[],
): readonly string[] {
  const [first = ''] = folders;
  const places: readonly (readonly [Scope, string])[] = [
    ['user', first],
    ...folders.map((folder) => ['project', folder] as const),
  ];
  const found = Object.entries(ownShells).flatMap(([name, shell]) => {
    const client = clients[name];
    if (client === undefined || !losing.has(client)) return [];
    return places.flatMap(([scope, project]) => {
      const path = shell.file(scope, { ...machine, project });
      const where = scope === 'user' ? '' : ` --scope project --project ${quoteWord(project)}`;
      const command = `nacre init ${name} --remove --own-shell on${where}`;
      return isOff(path, shell.isOff)
        ? [[path, `The own shell of ${client.title} is off (${path}); ${command} turns it on.`] as const]
        : [];
    });
  });
  // For a project in the home directory, the project's file is the user's own file.
  return [...new Map(found.reverse()).values()].reverse();
}

function isOff(path: string, test: (text: string) => boolean): boolean {
  try {
    return test(openConfigFile(path).text);
  } catch {
    return false;
  }
}
