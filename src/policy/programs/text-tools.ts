import type { ProgramCall } from '../options/program-call.ts';
import { knownArg } from '../words/arg.ts';
import { allOf, refuseOptions, shellOptions } from './effects.ts';
import { refused, startOptions, stdinText, unknownInput, writeOptions } from './option-effects.ts';
import type { Effect, ProgramEntry } from './program.ts';

/** Text and key tools, such as `sort`, `jq` and `gpg`, and the programs that their options and languages run. */
export const textToolPrograms: readonly ProgramEntry[] = [
  {
    names: ['sdiff', 'diff3'],
    options: { short: 'o:w:', long: 'diff-program= output= width= merge text ignore-case help version' },
    effects: allOf(startOptions('diff-program'), writeOptions('o', 'output')),
    runs: [
      ['sdiff --diff-program=touch a b', 'touch'],
      ['diff3 --diff-prog=touch a b c', 'touch'],
    ],
    harmless: ['sdiff a b', 'diff3 -m a b c'],
  },
  {
    names: ['split', 'gsplit', 'csplit'],
    options: {
      short: 'a:b:C:d::ex::l:n:t:uf:ksz',
      long: 'suffix-length= additional-suffix= bytes= line-bytes= numeric-suffixes[=] hex-suffixes[=] elide-empty-files filter= lines= number= separator= unbuffered verbose prefix= suffix-format= keep-files digits= quiet help version',
    },
    effects: allOf(shellOptions('filter'), writeOptions('f', 'prefix'), ({ options, name }) =>
      options.operands
        .slice(1, 2)
        .flatMap((path): Effect[] => (name === 'csplit' ? [] : [{ does: 'write', path }])),
    ),
    runs: [
      ["split --filter='touch x' a", 'touch'],
      ["split -l 10 --filter 'touch $FILE' a", 'touch'],
      ["split --fil='touch x' a", 'touch'],
      'split a /etc/x',
      'split --filter="$x" a',
    ],
    harmless: [
      'split -l 100 a part-',
      'split -b 10M big.bin',
      ["split --filter='gzip > $FILE.gz' a", 'gzip'],
      "csplit a '/x/'",
    ],
  },
  {
    names: [
      'shuf',
      'gshuf',
      'jo',
      'pr',
      'iconv',
      'msgfmt',
      'gperf',
      'bison',
      'yacc',
      'flex',
      'lex',
      'xmllint',
      'xsltproc',
      'dot',
      'neato',
      'rsvg-convert',
      'inkscape',
      'protoc',
      'swig',
    ],
    options: {
      short: 'o:e:n:i:f:t:T:',
      long: 'output= output-file= plugin= echo head-count= input-range= random-source= from-code= to-code= export-filename= shell= defines= header-file=',
    },
    effects: allOf(
      writeOptions('o', 'output', 'output-file', 'export-filename'),
      ({ options, args, name }) => [
        ...options
          .values('plugin')
          .map((at): Effect => ({ does: 'refuse', at, reason: `${name} --plugin starts a program` })),
        ...args
          .filter((arg) => name === 'inkscape' && /^--(?:actions|shell|verb)/.test(arg.text ?? ''))
          .map((at): Effect => ({ does: 'refuse', at, reason: `${name} would follow commands` })),
      ],
    ),
    runs: [
      'shuf -o ~/.bashrc a',
      'iconv -f a -t b -o /etc/x y',
      'protoc --plugin=protoc-gen-x=./evil a.proto',
      'dot -o ~/.profile x',
      'inkscape --actions=x a.svg',
    ],
    harmless: [
      'shuf -n 1 a',
      'iconv -f latin1 -t utf-8 a -o b',
      'xmllint --noout a.xml',
      'dot -Tpng a.dot -o a.png',
      'protoc --go_out=. a.proto',
    ],
  },
  {
    names: ['xxd', 'uudecode', 'uuencode', 'od', 'hexdump'],
    options: { short: 'abc:Ceg:hil:n:o:Pprs:uv:dR:t:j:N:w::A:f:' },
    effects: ({ options, name }) => {
      const target =
        name === 'xxd' ? options.operands[1] : name === 'uudecode' ? options.last('o') : undefined;
      return target === undefined || target.text === '-' ? [] : [{ does: 'write', path: target }];
    },
    runs: ['xxd -r a ~/.bashrc', 'xxd -r -p in /etc/x', 'uudecode -o ~/.profile a'],
    harmless: ['xxd a', 'xxd -r -p in out', 'xxd -l 16 a', 'hexdump -C a'],
  },
  {
    names: ['m4', 'gm4'],
    effects: (call) => {
      const runs = /\b(?:syscmd|esyscmd|m4_syscmd|m4_esyscmd|builtin|indir|maketemp)\b/;
      const words = call.args.filter((arg) => runs.test(arg.text ?? ''));
      const reads =
        call.args.every((arg) => /^-./.test(arg.text ?? '')) || call.args.some((arg) => arg.text === '-');
      const asks = call.args.some((arg) => /^--(?:version|help)$/.test(arg.text ?? ''));
      if (!reads || asks) return words.map((at) => refused(call, 'would run a command', at));
      const text = stdinText(call);
      const unclear = call.stdin !== 'none' && call.stdin.more;
      const danger = [...text.matchAll(/\be?syscmd\(\s*`?([^')]*)/g)].map(
        ([, command = '']): Effect => ({ does: 'perhaps', text: knownArg(command, call.self) }),
      );
      return unclear || runs.test(text) || words.length > 0
        ? [refused(call, 'would run commands in its input'), ...danger]
        : [];
    },
    runs: [
      "echo 'syscmd(touch x)' | m4",
      "m4 <<< 'esyscmd(`touch x'\"')\"",
      'm4',
      "m4 -Dx='syscmd(touch x)' a.m4",
    ],
    harmless: ['m4 a.m4', 'm4 -DA=1 a.m4', "m4 <<< 'define(a, b)a'", 'm4 --version'],
  },
  {
    names: ['dc', 'bc', 'gdc', 'gbc'],
    options: { short: 'e:f:hVxilqsw', long: 'expression= file= help version mathlib' },
    effects: (call) => (call.name.endsWith('bc') ? [] : [...unknownInput(call), ...dcEffects(call)]),
    runs: [
      ["dc -e '!touch x'", 'touch'],
      ["echo '!touch x' | dc", 'echo', 'touch'],
      ["dc --expression='1 p !touch x'", 'touch'],
      'dc -e "$x"',
      "tr a b <<< '!touch x' | dc",
    ],
    harmless: ["dc -e '2 3 + p'", ["echo '1+2' | bc", 'echo'], 'bc -l x.bc', "dc -e '1 2 !>a'"],
  },
  {
    names: ['openssl'],
    effects: opensslEffects,
    runs: [
      'openssl req -engine ./x.so',
      'openssl req --engine ./x.so',
      'openssl engine -t -pre SO_PATH:./x.so -pre LOAD dynamic',
      'openssl enc -aes-256-cbc -in a -out ~/.bashrc',
      'openssl req -config ./x.cnf -new',
      'openssl version -provider ./x',
      'openssl rand -out /etc/x 32',
      'tr a b <<< x | openssl',
      'openssl s_server -accept 1 --provider-path ./x',
    ],
    harmless: [
      'openssl rand -hex 16',
      'openssl dgst -sha256 a',
      'openssl x509 -in c.pem -noout -text',
      'openssl enc -aes-256-cbc -in a -out b',
      'openssl s_client -connect host:443',
      "openssl req -x509 -newkey rsa:2048 -keyout k.pem -out c.pem -subj '/CN=x'",
    ],
  },
  {
    names: ['gpg', 'gpg2', 'gpgv', 'gpgsm'],
    options: {
      short: 'abcdeknpsvtu:r:o:R:N:z:',
      long: 'output= options= homedir= agent-program= dirmngr-program= keyboxd-program= photo-viewer= exec-path= pinentry-program= use-embedded-filename load-extension= recipient= local-user= decrypt encrypt sign armor verify import export list-keys batch yes passphrase= passphrase-file= keyserver= status-file= logger-file= attribute-file= edit-key fingerprint version help',
    },
    effects: allOf(
      writeOptions('o', 'output', 'status-file', 'logger-file', 'attribute-file'),
      refuseOptions(
        Object.fromEntries(
          [
            'options',
            'agent-program',
            'dirmngr-program',
            'keyboxd-program',
            'photo-viewer',
            'exec-path',
            'pinentry-program',
            'load-extension',
          ].map((name) => [name, 'chooses settings or a program that runs']),
        ),
      ),
    ),
    runs: [
      'gpg --agent-program ./x -d a',
      'gpg --photo-viewer=touch --list-keys',
      'gpg --options ./x -d a',
      'gpg -o ~/.bashrc -d a',
      'gpg --dirmngr-prog=./x --recv-keys 1',
    ],
    harmless: [
      'gpg -d a.gpg',
      'gpg --verify a.sig a',
      'gpg -o out -d a',
      'gpg --import k',
      'gpg --list-keys',
    ],
  },
];

function dcEffects(call: ProgramCall): Effect[] {
  return [...call.options.values('e', 'expression').map(({ text }) => text ?? '!'), stdinText(call)]
    .flatMap((text) => text.split('\n'))
    .flatMap((line) => /!(?![<>=])(.*)$/.exec(line)?.[1] ?? [])
    .map(
      (text): Effect =>
        text === ''
          ? refused(call, 'would run a command')
          : { does: 'shell', text: knownArg(text, call.self) },
    );
}

const opensslCode =
  /^--?(?:engine|config|provider|provider-path|providerpath|engine_impl|ssl_client_engine|rand_engine|pre|post|CAengine|keyform_engine)$/;
const opensslOutput =
  /^--?(?:out|keyout|writerand|caout|signer_out|sess_out|keylogfile|msgfile|tlsextdebugfile)$/;

function opensslEffects(call: ProgramCall): Effect[] {
  const [first] = call.args;
  if (first === undefined) return unknownInput(call);
  if (first.text === 'engine') return [refused(call, 'engine loads code', first)];
  return call.args.flatMap((arg, index): Effect[] => {
    const before = call.args[index - 1]?.text ?? '';
    if (opensslCode.test(before))
      return /^(?:default|base|legacy|fips|null)$/.test(arg.text ?? '')
        ? []
        : [refused(call, `${before} loads code or settings`, arg)];
    return opensslOutput.test(before) ? [{ does: 'write', path: arg }] : [];
  });
}
