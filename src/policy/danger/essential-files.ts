import { parseOptions } from '../options/parse-options.ts';
import type { ProgramCall } from '../options/program-call.ts';
import { type Arg, prefixOf, withoutPrefix, wordText } from '../words/arg.ts';
import type { DangerFound, DangerRule } from './danger-rule.ts';
import { isEssentialFile } from './protected-places.ts';

/** Deleting, moving or replacing single files that the system cannot do without, such as `/etc/passwd`. */
export const essentialFileRules: readonly DangerRule[] = [
  {
    rule: 'essential_file',
    programs: ['rm', 'unlink', 'shred', 'truncate', 'tee', 'mv', 'cp', 'ln', 'install', 'dd'],
    test: testFiles,
    matches: [
      'rm -f /etc/passwd',
      'rm /bin/sh /tmp/x',
      'unlink /etc/shadow',
      'shred -u /etc/passwd',
      'truncate -s 0 /etc/fstab',
      'echo x | tee /etc/passwd',
      'mv /etc/passwd /tmp',
      'mv /bin/sh /bin/sh.old',
      'mv x /etc/shadow',
      'cp /dev/null /etc/passwd',
      'ln -sf /dev/null /bin/sh',
      'install -m 644 x /etc/sudoers',
      'dd if=/dev/zero of=/etc/passwd',
      'sudo rm -f //etc/../etc/shadow',
      'rm -f /boot/vmlinuz*',
    ],
    spares: [
      'cp /etc/passwd backup/',
      'cat /etc/passwd',
      'tee -a /etc/fstab',
      'tee /etc/hosts',
      'rm -f /etc/nginx/sites-enabled/default',
      'ln -s /bin/sh x',
      'dd if=/etc/passwd of=x',
      'mv app.conf /etc/app.conf',
      'install -m 755 app /usr/local/bin/app',
    ],
  },
];

const grammar = {
  short: 'abdfiHlLnpPRrsS:t:TuvxZm:o:g:cCDIz',
  long: 'target-directory= suffix= mode= owner= group= size= reference= iterations= append recursive force',
};

function testFiles(call: ProgramCall): DangerFound | undefined {
  const at = changedFiles(call).find(isEssentialFile);
  return at && { at, reason: `it deletes or replaces ${wordText(at)}` };
}

/** The files that a call deletes, moves or replaces. */
function changedFiles(call: ProgramCall): readonly Arg[] {
  if (call.name === 'dd')
    return call.args.filter((arg) => prefixOf(arg).startsWith('of=')).map((arg) => withoutPrefix(arg, 3));
  const { operands, ...options } = parsed(call);
  switch (call.name) {
    case 'tee':
      return options.appends ? [] : operands;
    case 'cp':
    case 'ln':
    case 'install':
      return operands.length > 1 ? operands.slice(-1) : [];
    default:
      return operands;
  }
}

function parsed(call: ProgramCall): { readonly operands: readonly Arg[]; readonly appends: boolean } {
  const isSized = call.name === 'truncate' || call.name === 'shred';
  const options = parseOptions(call.args, isSized ? { ...grammar, short: 'cos:r:n:uzvxf' } : grammar);
  return { operands: options.operands, appends: options.has('a', 'append') };
}
