import type { ProgramCall } from '../options/program-call.ts';
import { type Arg, knownArg, prefixOf, withoutPrefix } from '../words/arg.ts';
import { allOf, refuseOptions, shellOptions } from './effects.ts';
import {
  refused,
  startOptions,
  stdinText,
  unknownInput,
  unknownOptions,
  writeOptions,
} from './option-effects.ts';
import type { Effect, ProgramEntry } from './program.ts';
import { judgeWritten } from './written-files.ts';

/** Text and key tools, such as `sort`, `jq` and `gpg`, and the programs that their options and languages run. */
export const textToolPrograms: readonly ProgramEntry[] = [
  {
    names: ['sdiff', 'diff3'],
    closed: ['diff'],
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
    closed: [],
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
    closed: ['m4'],
    open: ['inkscape', 'protoc'],
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
          .filter((arg) => name === 'xmllint' && /^--?(?:shell|sh)/.test(arg.text ?? ''))
          .map(
            (at): Effect => ({
              does: 'refuse',
              at,
              reason: 'xmllint --shell reads commands that write files',
            }),
          ),
        ...args
          .filter((arg) => name === 'inkscape' && /^--(?:actions|shell|verb)/.test(arg.text ?? ''))
          .map((at): Effect => ({ does: 'refuse', at, reason: `${name} would run commands` })),
      ],
    ),
    runs: [
      'shuf -o ~/.bashrc a',
      'iconv -f a -t b -o /etc/x y',
      'protoc --plugin=protoc-gen-x=./evil a.proto',
      'dot -o ~/.profile x',
      'inkscape --actions=x a.svg',
      'xmllint --shell a.xml',
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
    closed: [],
    options: { short: 'abc:CEeg:hil:n:o:Pprs:uvdR:t:j:N:w::A:f:' },
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
      const files = call.args.filter(
        (arg, at) =>
          !/^-./.test(arg.text ?? '') &&
          !/^-[DUIBFLNRSTdlot]$|^--(?:define|undefine|include)$/.test(call.args[at - 1]?.text ?? ''),
      );
      const reads = files.length === 0 || files.some((arg) => arg.text === '-');
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
    closed: [],
    options: { short: 'e:f:hVxilqsw', long: 'expression= file= help version mathlib' },
    effects: (call) =>
      call.name.endsWith('bc')
        ? []
        : [
            ...unknownInput(call),
            ...dcEffects(call, [
              ...call.options.values('e', 'expression').map(({ text }) => text ?? '!'),
              stdinText(call),
            ]),
            ...judgeWritten(call, call.options.values('f', 'file'), ({ text = '!' }) =>
              dcEffects(call, [text]),
            ),
          ],
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
    closed: [],
    effects: opensslEffects,
    runs: [
      'openssl req -engine ./x.so',
      'openssl req --engine ./x.so',
      'openssl rand -engine=./x.so 3',
      'openssl rand -out=/etc/x 3',
      "openssl <<< 'req -engine ./x.so'",
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
    closed: [
      ...['dirmngr', 'gpg-agent', 'gpg-connect-agent', 'keyboxd', 'pinentry', 'scdaemon'],
      ...['/usr/lib/gnupg', '/usr/lib/gnupg2', '/usr/libexec/gnupg'],
    ],
    options: {
      short: 'abcdekKnpsvtqu:r:o:R:N:z:hVF:',
      long: 'output= options= homedir= agent-program= dirmngr-program= keyboxd-program= photo-viewer= exec-path= pinentry-program= use-embedded-filename load-extension= recipient= local-user= decrypt encrypt sign armor verify import export list-keys batch yes passphrase= passphrase-file= keyserver= status-file= logger-file= attribute-file= edit-key fingerprint version help Configuration ImportExport Input Keylist Monitor Output Security allow-freeform-uid allow-multiple-messages allow-multisig-verification allow-non-selfsigned-uid allow-secret-key-import allow-weak-digest-algos allow-weak-key-signatures always-trust armour ask-cert-expire ask-cert-level ask-sig-expire assume-armor assume-base64 assume-binary attribute-fd audit-log= auto-check-trustdb auto-issuer-key-retrieve auto-key-import auto-key-locate auto-key-retrieve base64 bzip2-compress-level bzip2-decompress-lowmem card-edit card-status cert-digest-algo cert-notation cert-policy-url change-passphrase change-pin charset check-sig check-signatures check-sigs check-trustdb cipher-algo clear-sign clearsign command-fd command-file comment compatibility-flags completes-needed compliance compress-algo compress-keys compress-level compress-sigs compression-algo ctapi-driver dearmor dearmour debug debug-all debug-ignore-expiration debug-iolbf debug-level debug-no-chain-validation debug-none debug-quick-random debug-wait decrypt-files default-cert-check-level default-cert-expire default-cert-level default-comment default-key default-keyserver-url default-new-key-algo default-preference-list default-recipient default-recipient-self default-sig-expire delete-key delete-keys delete-secret-and-public-keys delete-secret-keys desig-revoke detach-sign digest-algo disable-ccid disable-cipher-algo disable-crl-checks disable-dirmngr disable-dsa2 disable-large-rsa disable-mdc disable-ocsp disable-policy-checks disable-pubkey-algo disable-signer-uid disable-trusted-cert-crl-check display display-charset dry-run dump-cert dump-chain dump-external-keys dump-keys dump-option-table dump-options dump-secret-keys edit-card emit-version enable-crl-checks enable-dsa2 enable-issuer-based-crl-check enable-large-rsa enable-ocsp enable-policy-checks enable-progress-filter enable-special-filenames enable-trusted-cert-crl-check enarmor enarmour encrypt-files encrypt-to encrypt-to-default-key escape-from-lines exit-on-status-write-error expert export-filter export-options export-ownertrust export-secret-key-p12 export-secret-key-p8 export-secret-key-raw export-secret-keys export-secret-subkeys export-ssh-key extra-digest-algo faked-system-time fast-import fast-list-mode fetch-keys fix-trustdb fixed-list-mode for-your-eyes-only forbid-gen-key force-crl-refresh force-mdc force-ownertrust force-sign-key force-v3-sigs force-v4-certs full-gen-key full-generate-key gen-key gen-prime gen-random gen-revoke generate-designated-revocation generate-key generate-revocation gnupg gpg-agent-info group hidden-encrypt-to hidden-recipient hidden-recipient-file honor-http-proxy html-audit-log= ignore-cert-extension ignore-cert-with-oid ignore-crc-error ignore-mdc-error ignore-time-conflict ignore-valid-from import-filter import-options import-ownertrust include-certs include-key-block input-size-hint interactive key-edit key-origin keydb-clear-some-cert-flags keyid-format keyring keyserver-options known-notation lc-ctype lc-messages ldapserver legacy-list-mode limit-card-insert-tries list-chain list-config list-external-keys list-gcrypt-config list-key list-only list-options list-packets list-public-keys list-secret-keys list-sig list-signatures list-sigs list-trustdb locate-external-keys locate-keys lock-multiple lock-never lock-once log-file= logger-fd lsign-key mangle-dos-filenames marginals-needed max-cert-depth max-output merge-only mimemode min-cert-level min-rsa-length multifile no no-allow-freeform-uid no-allow-multiple-messages no-allow-non-selfsigned-uid no-armor no-armour no-ask-cert-expire no-ask-cert-level no-ask-sig-expire no-auto-check-trustdb no-auto-key-import no-auto-key-locate no-auto-key-retrieve no-autostart no-batch no-comments no-common-certs-import no-default-keyring no-default-recipient no-disable-mdc no-emit-version no-encrypt-to no-escape-from-lines no-expensive-trust-checks no-expert no-for-your-eyes-only no-force-mdc no-force-v3-sigs no-force-v4-certs no-greeting no-groups no-include-key-block no-keyring no-literal no-log-file no-mangle-dos-filenames no-mdc-warning no-options no-permission-warning no-pgp2 no-pgp6 no-pgp7 no-pgp8 no-random-seed-file no-require-backsigs no-require-cross-certification no-require-secmem no-rfc2440-text no-secmem-warning no-show-notation no-show-photos no-show-policy-url no-sig-cache no-sk-comments no-skip-hidden-recipients no-symkey-cache no-textmode no-throw-keyids no-tty no-use-agent no-use-embedded-filename no-utf8-strings no-verbose no-version not-dash-escaped only-sign-text-ids openpgp override-compliance-check override-session-key override-session-key-fd p12-charset passphrase-fd passphrase-repeat passwd pcsc-driver personal-cipher-preferences personal-cipher-prefs personal-compress-preferences personal-compress-prefs personal-digest-preferences personal-digest-prefs pgp6 pgp7 pgp8 pinentry-mode policy-file prefer-system-dirmngr preserve-permissions primary-keyring print-dane-records print-md print-mds print-pka-records quick-add-key quick-add-uid quick-addkey quick-adduid quick-gen-key quick-generate-key quick-lsign-key quick-revoke-sig quick-revoke-uid quick-revuid quick-set-expire quick-set-primary-uid quick-sign-key quiet reader-port rebuild-keydb-caches receive-keys recipient-file recv-keys refresh-keys remote-user request-origin require-backsigs require-compliance require-cross-certification require-secmem rfc2440 rfc2440-text rfc4880 rfc4880bis s2k-cipher-algo s2k-count s2k-digest-algo s2k-mode search-keys secret-keyring send-keys sender set-filename set-filesize set-notation set-policy-url show-key show-keyring show-keys show-notation show-policy-url show-session-key sig-keyserver-url sig-notation sig-policy-url sign-key sign-with sk-comments skip-hidden-recipients skip-verify status-fd store symmetric temp-directory textmode throw-keyids tofu-db-format tofu-default-policy tofu-policy trust-model trustdb-name trusted-key try-all-secrets try-secret-key ttyname ttytype ungroup unwrap update-trustdb use-agent use-only-openpgp-card user utf8-strings validation-model verbose verify-files verify-options warranty weak-digest with-colons with-ephemeral-keys with-fingerprint with-icao-spelling with-key-data with-key-origin with-keygrip with-md5-fingerprint with-secret with-sig-check with-sig-list with-subkey-fingerprint with-subkey-fingerprints with-tofu-info with-validation with-wkd-hash xauthority',
      negatable: true,
    },
    effects: allOf(
      unknownOptions,
      writeOptions(
        'o',
        'output',
        'status-file',
        'logger-file',
        'attribute-file',
        'log-file',
        'audit-log',
        'html-audit-log',
      ),
      refuseOptions(
        Object.fromEntries(
          [
            'options',
            'homedir',
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
      'gpg --homedir ./x -d a',
      'gpg -o ~/.bashrc -d a',
      'gpg --log-file .git/config --list-keys',
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

function dcEffects(call: ProgramCall, texts: readonly string[]): Effect[] {
  return texts
    .flatMap((text) => text.split('\n'))
    .flatMap((line) => /!(?![<>=])(.*)$/.exec(line)?.[1] ?? [])
    .map(
      (text): Effect =>
        text === ''
          ? refused(call, 'would run a command')
          : { does: 'shell', text: knownArg(text, call.self) },
    );
}

/** openssl also accepts `-option=value`. */
function separated(args: readonly Arg[]): readonly Arg[] {
  return args.flatMap((arg) => {
    const [whole, option] = /^(--?[a-z][\w-]*)=/i.exec(prefixOf(arg)) ?? [];
    if (whole === undefined || option === undefined) return [arg];
    return [knownArg(option, arg), withoutPrefix(arg, whole.length)];
  });
}

const opensslCode =
  /^--?(?:engine|config|provider|provider-path|providerpath|engine_impl|ssl_client_engine|rand_engine|pre|post|CAengine|keyform_engine)$/;
const opensslOutput =
  /^--?(?:out|keyout|writerand|caout|signer_out|sess_out|keylogfile|msgfile|tlsextdebugfile)$/;

function opensslEffects(call: ProgramCall): Effect[] {
  const [first] = call.args;
  if (first === undefined)
    return stdinText(call) === '' ? unknownInput(call) : [refused(call, 'would run commands in its input')];
  if (first.text === 'engine') return [refused(call, 'engine loads code', first)];
  return separated(call.args).flatMap((arg, index, args): Effect[] => {
    const before = args[index - 1]?.text ?? '';
    if (opensslCode.test(before))
      return /^(?:default|base|legacy|fips|null)$/.test(arg.text ?? '')
        ? []
        : [refused(call, `${before} loads code or settings`, arg)];
    return opensslOutput.test(before) ? [{ does: 'write', path: arg }] : [];
  });
}
