import { quoteWord } from '../../support/quote.ts';
import type { ProgramCall } from '../options/program-call.ts';
import { type Arg, knownArg, toArg, unknownArg } from '../words/arg.ts';
import { joinWords, unclearStart } from './effects.ts';
import { refused } from './option-effects.ts';
import type { Effect, ProgramEntry } from './program.ts';
import { listedItem, startsEndlessly } from './stdin-items.ts';

/** GNU `parallel`: substitutes the arguments into a shell command, or runs the arguments as commands. */
export const parallelPrograms: readonly ProgramEntry[] = [
  {
    names: ['parallel', 'sem', 'env_parallel'],
    options: {
      short: '0a:A:B:C:d:D:E:e::fghI:i::j:J:kL:l::mM:n:N:P:pqrs:S:tT:uU:vVWX',
      long: `null arg-file= arg-file-sep= arg-sep= basefile= bf= bar bg bibtex block= block-size= blocktimeout= cat citation cleanup color
        color-failed colsep= colour combine-exec= compress compress-program= csv ctag ctagstring= ctrlc delay= delimiter= dry-run dryrun
        embed env= eof[=] eta fg fifo filter= files filter-hosts gnu group group-by= halt= halt-on-error= header= help hgrp hostgroups id=
        jobs= joblog= keep-order latest-line limit= line-buffer line-buffered lb link linebuffer ll load= max-args= max-chars= max-lines[=]
        max-line-length-allowed max-procs= max-replace-args= memfree= memsuspend= minversion= nice= no-keep-order no-notice no-run-if-empty
        noswap nonall number-of-cores number-of-cpus number-of-sockets number-of-threads onall open-tty output-as-files parens= part
        pipe pipe-part pipepart plain plus process-slot-var= profile= progress pty quote record-env recend= recstart= regexp
        remove-rec-sep replace[=] results= resume resume-failed retries= retry-failed return= round round-robin roundrobin rpl= rrs
        seqreplace= session shard= shebang shellquote show-limits shuf silent skip-first-line slf= spreadstdin sql= sqlandworker= sqlmaster= sqlworker=
        ssh= sshdelay= sshlogin= sshloginfile= swap tag tagstring= tee tempdir= termseq= timeout= tmpdir= tmux tmuxpane total-jobs=
        tollef transfer transferfile= trc= trim= tty ungroup unsafe use-compress-program= use-cpus-instead-of-cores verbose version
        wait wd= workdir= will-cite xapply xargs`.replace(/\s+/g, ' '),
      stop: true,
    },
    effects: parallelEffects,
    runs: [
      ['parallel touch ::: a b', 'touch'],
      ['parallel -j 4 touch {} ::: a b', 'touch'],
      ["parallel ::: 'touch x' ls", 'touch', 'ls'],
      ['ls | parallel touch', 'ls', 'touch'],
      ["ls | parallel -j2 'ls {}; touch {.}'", 'ls', 'touch'],
      ["parallel -I% 'touch %' ::: a", 'touch'],
      ['parallel --jobs=2 --bar bash -c ::: "touch x"', 'bash', 'touch'],
      'parallel \'bash -c "{}"\' :::: cmds',
      'parallel :::: cmds.txt',
      'parallel -a cmds.txt',
      'parallel < cmds.txt',
      'parallel {} ::: touch ls',
      'parallel -S host ls ::: a',
      "parallel 'echo {= system(1) =}' ::: a",
      'cat x | parallel bash -c',
      ["parallel -q touch {} ::: 'a b'", 'touch'],
      ['sem -j 2 touch x', 'touch'],
      'cat x | parallel --pipe bash',
      'parallel --compress-program ./x ls ::: a',
      "parallel --limit 'touch x' ls ::: a",
      'parallel --sqlmaster x ls ::: a',
      "echo 'touch x' | parallel",
    ],
    harmless: [
      ['parallel ls -l ::: a b', 'ls'],
      ['find . | parallel gzip', 'find', 'gzip'],
      ["parallel -j4 'wc -l {} | sort' ::: a b", 'wc', 'sort'],
      ['parallel wc -l {} :::: files.txt', 'wc'],
      'parallel --version',
      ['cat x | parallel --pipe wc -l', 'cat', 'wc'],
      ["parallel ::: ls 'ls -l'", 'ls'],
      ['parallel -k --tag wc {1} {2} ::: a ::: b', 'wc'],
    ],
  },
];

const separators = /^(?::::\+?|::::\+?)$/;

function parallelEffects(call: ProgramCall): Effect[] {
  const { options } = call;
  if (options.has('V', 'version', 'h', 'help', 'citation', 'bibtex', 'show-limits')) return [];
  const { operands } = options;
  const end = operands.findIndex((arg) => separators.test(arg.text ?? ''));
  const template = end < 0 ? operands : operands.slice(0, end);
  const values = end < 0 ? streamed(call) : listedValues(operands.slice(end), call);
  const refusals = [
    ...options
      .values(
        'S',
        'sshlogin',
        'slf',
        'sshloginfile',
        'ssh',
        'J',
        'profile',
        'filter',
        'limit',
        'sql',
        'sqlmaster',
        'sqlandworker',
        'sqlworker',
        'rpl',
        'compress-program',
        'use-compress-program',
        'combine-exec',
      )
      .map((at) => refused(call, 'would run more than the command itself', at)),
    ...(options.has('nonall', 'onall') ? [refused(call, 'would run the command on other machines')] : []),
  ];
  const endless = startsEndlessly(call, options.last('j', 'jobs', 'P', 'max-procs'));
  return [...unclearStart(call), ...endless, ...refusals, ...commands(call, template, values)];
}

function commands(call: ProgramCall, template: readonly Arg[], values: readonly Arg[]): Effect[] {
  const { options } = call;
  if (template.length === 0) return values.map((text) => ({ does: 'shell', text: { ...text, many: false } }));
  if (call.name === 'sem') return [{ does: 'shell', text: joinWords(template, call.self) }];
  if (options.has('pipe', 'pipepart', 'pipe-part', 'spreadstdin'))
    return [{ does: 'shell', text: joinWords(template, call.self) }, ...readers(call, template)];
  if (options.has('q', 'quote')) return judged(values, call).map((value) => quoted(template, value));
  const text = joinWords(template, call.self);
  if (text.text === undefined) return [{ does: 'shell', text }];
  return judged(values, call).map((value) => filled(call, text.text ?? '', value));
}

/** The different values, and an unknown one if there are too many. */
function judged(values: readonly Arg[], { self }: ProgramCall): readonly Arg[] {
  const different = [...new Map(values.map((value) => [value.text ?? value, value])).values()];
  return different.length > maxValues
    ? [...different.slice(0, maxValues), unknownArg(self, false)]
    : different;
}

const maxValues = 128;

/** With `--pipe`, a shell runs the blocks that it receives on stdin. */
function readers(call: ProgramCall, template: readonly Arg[]): Effect[] {
  return template.length === 1 && /^(?:ba|da|z|k)?sh$|^python|^perl$|^node$/.test(template[0]?.text ?? '')
    ? [{ does: 'unknown', at: call.self, reason: `what ${call.name} would have run cannot be known` }]
    : [];
}

const marks = /\{(?:[+-]?\d+)?(?:\.|\/|\/\/|\/\.|#|%|\+[^{}]*)?\}/g;

/** Substitutes one value into the command. `parallel` quotes values, so outside quotes they stay one word. */
function filled(call: ProgramCall, template: string, value: Arg): Effect {
  if (template.includes('{=')) return refused(call, 'would run Perl code');
  const custom = call.options.last('I', 'replace')?.text;
  const holder =
    custom === undefined ? marks : new RegExp(custom.replace(/[.*+?^${}()|[\]\\]/g, '\\$&'), 'g');
  const found = [...template.matchAll(holder)];
  const whole = found.length === 0 ? `${template} {}` : template;
  const put = (text: string): string => whole.replace(found.length === 0 ? /\{\}$/ : holder, () => text);
  if (value.text !== undefined) return { does: 'shell', text: knownArg(put(escaped(value.text)), call.self) };
  if (found.some(({ index }) => insideQuotes(template, index)))
    return { does: 'unknown', at: call.self, reason: `the text that ${call.name} would run cannot be known` };
  return {
    does: 'shell',
    text: knownArg(put('"$1"'), call.self),
    args: [call.self, toArg(value.pieces, value)],
  };
}

function insideQuotes(text: string, index: number): boolean {
  const before = text.slice(0, index).replace(/\\./g, '');
  return (before.split("'").length - 1) % 2 === 1 || (before.split('"').length - 1) % 2 === 1;
}

function escaped(text: string): string {
  return quoteWord(text) === text ? text : text.replace(/[^\w./:=@%+-]/g, '\\$&');
}

function quoted(template: readonly Arg[], value: Arg): Effect {
  const holds = template.some((word) => word.text?.includes('{}'));
  const argv = template.map((word) =>
    word.text?.includes('{}')
      ? value.text === undefined
        ? unknownArg(word, false)
        : knownArg(word.text.replaceAll('{}', value.text), word)
      : word,
  );
  return { does: 'start', argv: holds ? argv : [...argv, value], stdin: 'none' };
}

/** The words after `:::`, and an unknown word for the files that `::::` reads. */
function listedValues(words: readonly Arg[], call: ProgramCall): Arg[] {
  let fromFile = false;
  const values = words.flatMap((word): Arg[] => {
    if (!separators.test(word.text ?? '')) return [fromFile ? unknownArg(call.self, false) : word];
    fromFile = word.text?.startsWith('::::') ?? false;
    return [];
  });
  return values.length > 0 ? values : [unknownArg(call.self, false)];
}

function streamed({ stdin, options, self }: ProgramCall): Arg[] {
  if (stdin === 'none' || options.has('a', 'arg-file')) return [unknownArg(self, false)];
  const lines = stdin.text.split('\n').filter((line) => line !== '');
  return [
    ...lines.map((line) => listedItem(line, stdin.more, self)),
    ...(stdin.more ? [unknownArg(self, false)] : []),
  ];
}
