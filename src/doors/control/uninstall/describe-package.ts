import { dirname } from 'node:path';
import { quoteWord } from '../../../support/quote.ts';

/** The command that removes the package itself, found from the path of its `cli.js`; npm owns the package. */
export function describePackage(script: string): string {
  const [, prefix, kind = ''] =
    /^(.*?)\/(lib\/node_modules|_npx\/[^/]+\/node_modules|node_modules)\/nacre\//.exec(script) ?? [];
  if (prefix === undefined) return `rm -r ${quoteWord(dirname(dirname(script)))}`;
  if (kind.startsWith('lib/')) return `npm uninstall --global --prefix ${quoteWord(prefix)} nacre`;
  if (kind.startsWith('_npx/'))
    return `rm -r ${quoteWord(`${prefix}/${kind.split('/').slice(0, 2).join('/')}`)}`;
  return `npm uninstall --prefix ${quoteWord(prefix)} nacre`;
}
