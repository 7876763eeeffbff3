import { parseOptions } from '../options/parse-options.ts';
import type { ProgramCall } from '../options/program-call.ts';
import { type Arg, prefixOf, wordText } from '../words/arg.ts';
import type { DangerFound, DangerRule } from './danger-rule.ts';
import { findProtectedPlace, isEssentialFile } from './protected-places.ts';

/** Recursive `chmod` and `chown` of system directories, and making them world-writable. */
export const ownershipRules: readonly DangerRule[] = [
  {
    rule: 'recursive_permissions',
    programs: ['chmod', 'setfacl', 'chattr'],
    test: testMode,
    matches: [
      'chmod -R 777 /',
      'chmod -fR 777 /',
      'chmod 777 -R /usr',
      'chmod --recursive a+rwx /etc',
      'chmod -R 0777 ~',
      'chmod -R u+x /*',
      'sudo chmod -R 000 /',
      'chmod 777 /',
      'cd / && chmod -R 777 .',
      'chattr -R +i /',
      'setfacl -R -b /etc',
      'setfacl -Rm u:x:rwx /',
      'setfacl -R --remove-all /',
      'chmod -R --reference=x /',
      'find / | xargs chmod u+x',
      'chmod -x /bin/*',
      'chmod 777 /etc/shadow',
    ],
    spares: [
      'chmod -R 755 ./build',
      'chmod 777 /tmp/x',
      'chmod +x run.sh',
      'chmod -R u+rwX ~',
      'chmod 1777 /tmp',
      'chmod -R 777 dist',
      'chmod --help',
    ],
  },
  {
    rule: 'recursive_ownership',
    programs: ['chown', 'chgrp'],
    test: testOwner,
    matches: [
      'chown -R www-data /',
      'chown -hR me:me /usr',
      'chgrp --recursive users /etc',
      'chown --recu root //',
      'chown me -R /*',
      'find / -exec chown me {} +',
      'find /usr | xargs chgrp users',
    ],
    spares: [
      'chown -R me ./src',
      'chown root /etc/hosts',
      'chown -R me ~',
      'chown -R app /srv/app',
      'find /srv/app -exec chown app {} +',
    ],
  },
];

function testMode(call: ProgramCall): DangerFound | undefined {
  const recursive = hasRecursive(call.args, call.name === 'setfacl' ? /^-[a-zA-Z]*R/ : /^-[cfv]*R[cfvR]*$/);
  const isOption = call.name === 'chmod' ? /^-(?:[cfvR]+|-.*)$/ : /^-(?:[cfvRVLPHhmxbdnk]+|-.*)$/;
  const words = call.args.filter((arg) => !isOption.test(wordText(arg)));
  const copied = call.args.some((arg) => /^--ref/.test(prefixOf(arg)));
  const clears =
    call.name === 'setfacl' &&
    call.args.some((arg) => /^(?:-[a-zA-Z]*[bk]|--remove-(?:all|default))/.test(wordText(arg)));
  const operands = copied || clears ? words : words.slice(1);
  const open = call.name === 'chmod' && !copied && opensToAll(wordText(words[0]));
  const takes = /(?:^|,)[ugoa]*-[rwx]/.test(wordText(words[0]));
  for (const at of operands) {
    if (open && isEssentialFile(at))
      return { at, reason: `it makes ${wordText(at)} writable for every user` };
    const place = findProtectedPlace(at, call.cwd, call.home);
    if (place === undefined) continue;
    if (takes && place.content && place.kind === 'system')
      return { at, reason: `it removes permissions of everything in ${place.path}` };
    const temporary = place.path === '/tmp';
    if (place.kind === 'home' ? recursive && open : recursive || (open && !temporary)) {
      return {
        at,
        reason: `it changes the permissions of ${place.path}${recursive ? ' and everything below it' : ''}`,
      };
    }
  }
  return undefined;
}

/** Returns true for a mode such as `777` or `000` that makes files world-writable or removes all permissions. */
function opensToAll(mode: string): boolean {
  return (
    /^0*[0-7]?[0-7][0-7][2367]$/.test(mode) ||
    /^0+$/.test(mode) ||
    /(?:^|,)(?:[ug]*[oa][ugoa]*)?[+=][rxXst]*w/.test(mode) ||
    /(?:^|,)a?[-=](?:$|,|rwx)/.test(mode)
  );
}

const ownerOptions = {
  short: 'cfvhRHLP',
  long: 'changes silent quiet verbose dereference no-dereference from= no-preserve-root preserve-root reference= recursive help version',
};

function testOwner(call: ProgramCall): DangerFound | undefined {
  const options = parseOptions(call.args, ownerOptions);
  if (!options.has('R', 'recursive')) return undefined;
  const operands = options.has('reference') ? options.operands : options.operands.slice(1);
  for (const at of operands) {
    const place = findProtectedPlace(at, call.cwd, call.home);
    if (place !== undefined && place.kind !== 'home')
      return { at, reason: `it changes the owner of ${place.path} and everything below it` };
  }
  return undefined;
}

function hasRecursive(args: readonly Arg[], cluster: RegExp): boolean {
  return args.some(
    (arg) => cluster.test(wordText(arg)) || /^--r(?:e(?:c(?:u[a-z]*)?)?)?$/.test(wordText(arg)),
  );
}
