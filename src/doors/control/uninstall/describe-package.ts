import { realpathSync } from 'node:fs';
import { dirname } from 'node:path';
import { quoteWord } from '../../../support/quote.ts';
import type { ProcessAccess } from '../../door.ts';
import { findOnPath } from '../../find-program.ts';

/** How to remove the package itself, which a program cannot do while npm owns it. */
export function describeRemoval({ program, machine }: Pick<ProcessAccess, 'program' | 'machine'>): string {
  const command = describePackage(program.script);
  const linked = findOnPath(machine.env.PATH ?? '', 'nacre');
  // `npm install --global FOLDER` installs a link to the folder, which would stay behind as a broken command.
  const isLinked = linked !== undefined && realpathSync(linked) === program.script;
  return isLinked && command.startsWith('rm -r ')
    ? `npm uninstall --global --prefix ${quoteWord(dirname(dirname(linked)))} nacre && ${command}`
    : command;
}

/** The command that removes the package with this `cli.js`. */
export function describePackage(script: string): string {
  const [, prefix, kind = ''] =
    /^(.*?)\/(lib\/node_modules|_npx\/[^/]+\/node_modules|node_modules)\/nacre\//.exec(script) ?? [];
  if (prefix === undefined) return `rm -r ${quoteWord(dirname(dirname(script)))}`;
  if (kind.startsWith('lib/')) return `npm uninstall --global --prefix ${quoteWord(prefix)} nacre`;
  if (kind.startsWith('_npx/'))
    return `rm -r ${quoteWord(`${prefix}/${kind.split('/').slice(0, 2).join('/')}`)}`;
  return `npm uninstall --prefix ${quoteWord(prefix)} nacre`;
}
