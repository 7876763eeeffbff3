import { type Arg, knownArg, prefixOf, wordText } from '../words/arg.ts';
import { optionValues, refused, refusedSub, subcommands } from './option-effects.ts';
import type { Effect, ProgramEntry } from './program.ts';

/** System programs that look harmless, and start another program with some option or replace a file. */
export const hiddenStarters: readonly ProgramEntry[] = [
  {
    names: [
      ...[
        'iptables',
        'ip6tables',
        'iptables-restore',
        'ip6tables-restore',
        'iptables-save',
        'ip6tables-save',
      ],
      ...['iptables-legacy', 'iptables-nft', 'arptables', 'ebtables', 'iptables-apply', 'ip6tables-apply'],
    ],
    effects: (call) =>
      /-apply$/.test(call.name)
        ? optionValues(call.args, /^(?:-c|--command)$/).map((text): Effect => ({ does: 'shell', text }))
        : optionValues(call.args, /^(?:-M|--mod[a-z]*)$/).map((at) =>
            refused(call, 'would start a program', at),
          ),
    runs: ['iptables --modprobe=./x -L', 'iptables -M ./x -L', 'ip6tables-restore --modprobe ./x'],
    harmless: ['ip6tables -L -n', 'ip6tables -A INPUT -p tcp --dport 80 -j ACCEPT', 'ip6tables -m state -L'],
  },
  {
    names: ['schedtool'],
    effects: ({ args }) => startAfter(args, /^-[a-zA-Z]*e$/),
    runs: [['schedtool -B -e touch x', 'touch']],
    harmless: ['schedtool -r', ['schedtool -B -e ls', 'ls']],
  },
  {
    names: ['formail'],
    effects: ({ args }) => startAfter(args, /^-[a-zA-Z+]*s$/),
    runs: [['formail -s touch x', 'touch']],
    harmless: ['formail -x Subject:', ['formail -s cat', 'cat']],
  },
  {
    names: ['fsck'],
    effects: ({ args, self }) =>
      optionValues(args, /^-[A-Zanprvy]*t$/)
        .filter(({ text }) => !/^(?:ext[234]|xfs|btrfs|vfat|minix|cramfs)(?:,|$)/.test(text ?? ''))
        .map((at): Effect => ({ does: 'start', argv: [knownArg(`fsck.${wordText(at)}`, self)] })),
    runs: ['fsck -t x a', 'fsck -t ../../tmp/x a'],
    harmless: ['fsck -N /dev/sda1', 'fsck -t ext4 a.img'],
  },
  {
    names: ['dpkg-preconfigure', 'systemd-tmpfiles', 'containerd', 'containerd-shim', 'conmon', 'postgres'],
    effects: (call) =>
      call.args.some((arg) => !/^--?(?:help|version|V|h)$/.test(wordText(arg))) || call.args.length === 0
        ? [refused(call, 'runs programs or writes files that its files name')]
        : [],
    runs: ['dpkg-preconfigure x.deb', 'systemd-tmpfiles --create x.conf', 'postgres --single a'],
    harmless: ['systemd-tmpfiles --version', 'postgres --version'],
  },
  {
    names: ['runc', 'crun', 'youki'],
    effects: subcommands({
      'run exec create start restore spec': refusedSub('runs programs and hooks of a bundle on this machine'),
    }),
    runs: ['runc run x', 'crun exec x sh'],
    harmless: ['runc list', 'runc --version', 'runc state x'],
  },
  {
    names: ['pg_ctl', 'initdb', 'pg_ctlcluster'],
    effects: (call) => [
      ...optionValues(call.args, /^-p$/).map((at) => refused(call, 'would start another program', at)),
      ...optionValues(call.args, /^(?:-[oc]|--options|--set)$/)
        .filter(({ text }) => !/^\s*(?:-[pFhki] ?(?:[\w./][\w./-]*)?(?:\s+|$))*$/.test(text ?? 'x'))
        .map((at) => refused(call, 'would set what the server starts', at)),
    ],
    runs: ['pg_ctl -p ./x start', "pg_ctl -o '-c archive_command=touch' start"],
    harmless: ['pg_ctl -D data -l log start', "pg_ctl -D data -o '-p 5433' start", 'initdb -D data -U me'],
  },
  {
    names: ['strigger', 'sbatch'],
    effects: (call) => [
      ...optionValues(call.args, /^(?:-p|--program)$/)
        .filter(() => call.name === 'strigger')
        .map((at) => refused(call, 'would start a program later', at)),
      ...optionValues(call.args, /^--wr[ap]*$/).map((text): Effect => ({ does: 'shell', text })),
    ],
    runs: ['strigger --set --program=/root/x', 'strigger -p /root/x'],
    harmless: ['strigger --get', 'sbatch job.sh', 'sbatch -p main job.sh', ["sbatch --wrap='ls'", 'ls']],
  },
  {
    names: ['ucf', 'bzexe', 'gzexe', 'savelog'],
    effects: (call) => [
      ...call.args
        .filter((arg) => !prefixOf(arg).startsWith('-'))
        .slice(-1)
        .map((path): Effect => ({ does: 'write', path })),
    ],
    runs: ['ucf a .git/config', 'ucf a ~/.bashrc'],
    harmless: ['ucf a b', 'savelog -c 3 a.log'],
  },
];

/** Programs whose words after an option are a program and its arguments. */
function startAfter(args: readonly Arg[], option: RegExp): Effect[] {
  const argv = args.slice(args.findIndex((arg) => option.test(wordText(arg))) + 1);
  return argv.length === args.length || argv.length === 0 ? [] : [{ does: 'start', argv }];
}
