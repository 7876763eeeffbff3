import { realpathSync } from 'node:fs';
import { dirname } from 'node:path';
import { quoteWord } from '../../../support/quote.ts';
import type { ProcessAccess } from '../../door.ts';
import { findOnPath } from '../../find-program.ts';

/** A sentence on how to remove the package itself, which a program cannot do while npm owns it. */
export function describeRemoval({ program, machine }: Pick<ProcessAccess, 'program' | 'machine'>): string {
  const command = toRemoval(program.script);
  if (command !== undefined) return `To remove the package itself, run: ${command}`;
  const linked = findOnPath(machine.env.PATH ?? '', 'nacre');
  // `npm install --global FOLDER` installs a link to the folder, which would stay behind as a broken command.
  const isLinked = linked !== undefined && realpathSync(linked) === program.script;
  const unlink = isLinked
    ? `To remove the command nacre, run: npm uninstall --global --prefix ${quoteWord(dirname(dirname(linked)))} nacre\n`
    : '';
  return `${unlink}The package itself is the folder ${dirname(dirname(program.script))}; delete it if you no longer need it.`;
}

/** The command that removes the package with this `cli.js`; none for a clone, which may contain the user's own work. */
export function toRemoval(script: string): string | undefined {
  const [, prefix, kind = ''] =
    /^(.*?)\/(lib\/node_modules|_npx\/[^/]+\/node_modules|node_modules)\/nacre\//.exec(script) ?? [];
  if (prefix === undefined) return undefined;
  if (kind.startsWith('lib/')) return `npm uninstall --global --prefix ${quoteWord(prefix)} nacre`;
  if (kind.startsWith('_npx/'))
    return `rm -r ${quoteWord(`${prefix}/${kind.split('/').slice(0, 2).join('/')}`)}`;
  return `npm uninstall --prefix ${quoteWord(prefix)} nacre`;
}
