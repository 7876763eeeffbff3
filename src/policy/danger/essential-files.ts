import { parseOptions } from '../options/parse-options.ts';
import type { ProgramCall } from '../options/program-call.ts';
import { type Arg, prefixOf, withoutPrefix, wordText } from '../words/arg.ts';
import type { DangerFound, DangerRule } from './danger-rule.ts';
import { findProtectedPlace, isEssentialFile, isListing } from './protected-places.ts';

/** Deleting, moving or replacing single files that the system cannot do without, such as `/etc/passwd`. */
export const essentialFileRules: readonly DangerRule[] = [
  {
    rule: 'essential_file',
    programs: [
      ...['rm', 'unlink', 'rmdir', 'shred', 'truncate', 'tee', 'mv', 'cp', 'ln', 'install', 'dd'],
      ...['sed', 'perl', 'ruby', 'python', 'python3', 'node', 'php', 'sponge'],
      ...['ed', 'red', 'ex', 'vi', 'vim', 'nvim'],
    ],
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
      'sed -i d /etc/passwd',
      "perl -i -ne '' /etc/passwd",
      'find / -type f -exec sed -i d {} \\;',
      "ex -sc '%d|x' /etc/passwd",
      "vim -es '+g/^/d' +wq /etc/shadow",
      "ed -s /etc/passwd <<< $'1,$d\\nw'",
      "printf '%s\\n' ,d w q | ed -s /etc/fstab",
      "find / -exec perl -e 'unlink @ARGV' {} +",
      'find / -type f | parallel tee',
      'rg --files / | xargs sed -i s/a/b/',
      'find /etc -type f | xargs -I{} cp /dev/null {}',
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
      "sed -i '/swap/d' /etc/fstab",
      "ex -sc 'g/swap/d|x' /etc/fstab",
      "ed -s /etc/fstab <<< $'/swap/d\\nw'",
      "ex -sc '%d|x' notes.txt",
      'vim /etc/fstab',
      'find src -type f -exec sed -i s/a/b/ {} +',
      'find . -type f | xargs -I{} cp {} backup/',
      'install -m 755 app /usr/local/bin/app',
    ],
  },
];

const grammar = {
  short: 'abdfiHlLnpPRrsS:t:TuvxZm:o:g:cCDIz',
  long: 'target-directory= suffix= mode= owner= group= size= reference= iterations= append recursive force',
};

function testFiles(call: ProgramCall): DangerFound | undefined {
  const files = changedFiles(call);
  const at = files.find(isEssentialFile);
  if (at !== undefined) return { at, reason: `it deletes or replaces ${wordText(at)}` };
  const listing = files.find((file) => {
    const place = findProtectedPlace(file, call.cwd, call.home);
    return place !== undefined && (isListing(file) || (place.content && call.name === 'sed'));
  });
  return listing && { at: listing, reason: 'it changes every file in a home or system directory' };
}

/** The files that a call deletes, moves or replaces. */
function changedFiles(call: ProgramCall): readonly Arg[] {
  if (call.name === 'dd')
    return call.args.filter((arg) => prefixOf(arg).startsWith('of=')).map((arg) => withoutPrefix(arg, 3));
  if (editors.test(call.name)) return editedFiles(call);
  if (typing.test(call.name)) return emptiedFiles(call);
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

const editors = /^(?:sed|perl|ruby|python3?|node|php)$/;
const removing = /\b(?:unlink|unlinkSync|remove|rmtree|rm_rf|rmSync|delete|truncate)\b/;

/**
 * The files that `-i` edits or that inline code removes. Editing one file of the system is usual, so a single file counts only if the
 * code leaves nothing of it. A listing of a whole folder always counts.
 */
function editedFiles({ args, name }: ProgramCall): readonly Arg[] {
  if (args.some(({ text }) => text !== undefined && removing.test(text))) return args.filter(isListing);
  if (!args.some((arg) => /^(?:-[a-zA-Z0]*i|--in-place)/.test(prefixOf(arg)))) return [];
  const emptiesAll = args.some(
    ({ text }) =>
      text !== undefined &&
      (name === 'sed' ? /^(?:(?:1,\$|\/\.?\*?\/)?[dD]|s\/\.\*\/\/)$/ : /^(?:s\/\.\*\/\/g?s?;?)?$/).test(
        text.trim(),
      ),
  );
  const files = args.filter((arg) => !prefixOf(arg).startsWith('-'));
  return emptiesAll ? files : files.filter(isListing);
}

const typing = /^(?:red|ed|ex|n?vim?)$/;

/** The files of an editor that is given a command for deleting every line. */
function emptiedFiles({ args, stdin }: ProgramCall): readonly Arg[] {
  const texts = args.map(wordText).concat(stdin === 'none' ? [] : stdin.text);
  const lines = texts.flatMap((text) => text.split(/[\n|]/));
  const empties = lines.some((line) => deletesAll.test(line.replace(/^(?:-[a-z]*c|\+)?[\s:]{0,9}/, '')));
  return empties ? args.filter((arg) => !/^[-+]/.test(prefixOf(arg))) : [];
}

/** `%d`, `,d`, `1,$d`, `g/^/d` and `%s/.*/ /`, after which a file is empty. */;
const deletesAll = /^(?:%|1?,\$?|g\/[.^]?\*?\/)\s?(?:d|s\/\.\*\/\/)/;

function parsed(call: ProgramCall): { readonly operands: readonly Arg[]; readonly appends: boolean } {
  const isSized = call.name === 'truncate' || call.name === 'shred';
  const options = parseOptions(call.args, isSized ? { ...grammar, short: 'cos:r:n:uzvxf' } : grammar);
  return { operands: options.operands, appends: options.has('a', 'append') };
}
