import type { ProgramCall } from '../options/program-call.ts';
import { type Arg, knownArg, type Piece, prefixOf, toArg } from '../words/arg.ts';
import { allOf, refuseOptions } from './effects.ts';
import {
  refused,
  startOptions,
  stdinText,
  unknownInput,
  unknownOptions,
  writeOptions,
} from './option-effects.ts';
import type { Effect, ProgramEntry } from './program.ts';

const fromFile = 'reads settings from a file';

/** Download programs such as `curl` and `wget`: the files that they write and the programs that their settings run. */
export const transferPrograms: readonly ProgramEntry[] = [
  {
    names: ['curl'],
    closed: [],
    options: {
      short: 'aE:K:C:b:c:d:qD:fF:P:GgIH:h0ik46jlLMm:nNo:Z#x:U:pQ:r:e:JORX:SsY:y:23t:z:1T:Bu:A:vVw:',
      long: `abstract-unix-socket= alt-svc= anyauth append aws-sigv4= basic cacert= capath= cert= cert-status cert-type= ciphers= compressed
        compressed-ssh config= connect-timeout= connect-to= continue-at= cookie= cookie-jar= create-dirs create-file-mode= crlf
        crlfile= curves= data= data-ascii= data-binary= data-raw= data-urlencode= delegation= digest disable disable-eprt
        disable-epsv disallow-username-in-url dns-interface= dns-ipv4-addr= dns-ipv6-addr= dns-servers= doh-cert-status
        doh-insecure doh-url= dump-header= egd-file= engine= etag-compare= etag-save= expect100-timeout= fail fail-early
        fail-with-body false-start form= form-escape form-string= ftp-account= ftp-alternative-to-user= ftp-create-dirs
        ftp-method= ftp-pasv ftp-port= ftp-pret ftp-skip-pasv-ip ftp-ssl-ccc ftp-ssl-ccc-mode= ftp-ssl-control get globoff
        happy-eyeballs-timeout-ms= haproxy-protocol head header= help hostpubmd5= hostpubsha256= hsts= http0.9 http1.0 http1.1
        http2 http2-prior-knowledge http3 http3-only ignore-content-length include insecure interface= ipv4 ipv6 json=
        junk-session-cookies keepalive-time= key= key-type= krb= libcurl= limit-rate= list-only local-port= location
        location-trusted login-options= mail-auth= mail-from= mail-rcpt= mail-rcpt-allowfails manual max-filesize= max-redirs=
        max-time= metalink negotiate netrc netrc-file= netrc-optional next no-alpn no-buffer no-clobber no-keepalive no-npn
        no-progress-meter no-sessionid noproxy= ntlm ntlm-wb oauth2-bearer= output= output-dir= parallel parallel-immediate
        parallel-max= pass= path-as-is pinnedpubkey= post301 post302 post303 preproxy= progress-bar proto= proto-default=
        proto-redir= proxy= proxy-anyauth proxy-basic proxy-cacert= proxy-capath= proxy-cert= proxy-cert-type= proxy-ciphers=
        proxy-crlfile= proxy-digest proxy-header= proxy-insecure proxy-key= proxy-key-type= proxy-negotiate proxy-ntlm
        proxy-pass= proxy-pinnedpubkey= proxy-service-name= proxy-ssl-allow-beast proxy-ssl-auto-client-cert
        proxy-tls13-ciphers= proxy-tlsauthtype= proxy-tlspassword= proxy-tlsuser= proxy-tlsv1 proxy-user= proxy1.0= proxytunnel
        pubkey= quote= random-file= range= rate= raw referer= remote-header-name remote-name remote-name-all remote-time
        remove-on-error request= request-target= resolve= retry= retry-all-errors retry-connrefused retry-delay= retry-max-time=
        sasl-authzid= sasl-ir service-name= show-error silent socks4= socks4a= socks5= socks5-basic socks5-gssapi
        socks5-gssapi-nec socks5-gssapi-service= socks5-hostname= speed-limit= speed-time= ssl ssl-allow-beast
        ssl-auto-client-cert ssl-no-revoke ssl-reqd ssl-revoke-best-effort sslv2 sslv3 stderr= styled-output
        suppress-connect-headers tcp-fastopen tcp-nodelay telnet-option= tftp-blksize= tftp-no-options time-cond= tls-max=
        tls13-ciphers= tlsauthtype= tlspassword= tlsuser= tlsv1 tlsv1.0 tlsv1.1 tlsv1.2 tlsv1.3 tr-encoding trace= trace-ascii=
        trace-time unix-socket= upload-file= url= url-query= use-ascii user= user-agent= verbose version write-out= xattr`.replace(
        /\s+/g,
        ' ',
      ),
      negatable: true,
    },
    effects: allOf(
      unknownOptions,
      (call) => inFolder(call, globbed(call), call.options.last('output-dir')),
      (call) =>
        call.options.has('O', 'remote-name', 'remote-name-all')
          ? fetched(call, call.options.last('output-dir'))
          : [],
      writeOptions(
        'D',
        'dump-header',
        'c',
        'cookie-jar',
        'trace',
        'trace-ascii',
        'stderr',
        'etag-save',
        'hsts',
        'alt-svc',
        'libcurl',
      ),
      refuseOptions({ K: fromFile, config: fromFile, engine: 'loads code' }),
      formatFiles,
      controlSockets,
    ),
    runs: [
      "curl -w '%output{/root/.bashrc}x' url",
      "curl --write-out '%output{>>.git/config}x' url",
      'curl -w @format url',
      'curl --unix-socket /var/run/docker.sock -X POST http://x/containers/create',
      'curl -o ~/.bashrc url',
      'curl -sLo /etc/x url',
      'curl --output /usr/bin/ls url',
      'curl -K conf',
      'curl --config conf url',
      'curl -o /dev/sda url',
      'curl --output-dir ~/.ssh -O https://x/authorized_keys',
      'curl --engine ./x.so url',
      'curl -c ~/.bashrc url',
      'curl -Z -K conf url',
      'curl -n -K conf url',
      'curl --some-new-option url',
      'curl --output-dir .git/hooks -OJ url',
      "curl -o '#1/config' 'url/{.git,x}'",
    ],
    harmless: [
      'curl -fsSL https://example.com -o out.tgz',
      "curl -X POST -H 'A: b' -d '{\"a\":1}' url",
      'curl -O https://x/a.tgz',
      "curl -o 'page-#1.html' 'url/[1-3]?{a,b}'",
      'curl --create-dirs --retry-max-time 9 --remove-on-error -o a/b url',
      'curl -s url',
      'curl -d @file url',
      'curl -o /dev/null -w "%{http_code}" url',
      'curl -T file url',
      'curl "$URL"',
      'curl --no-progress-meter -fsS --retry 3 --retry-delay=2 url',
      'curl -sSf --no-location -u a:b -b c=d -k -x p:1 url',
    ],
  },
  {
    names: ['wget', 'wget2'],
    closed: [],
    options: {
      short: 'Vhbe:o:a:dqvi:FB:t:O:cNST:w:Q:46xP:EU:rl:kKmpA:R:D:HLI:X:n:C:',
      long: `version help background execute= output-file= append-output= debug quiet verbose no-verbose report-speed= input-file= force-html
        base= config= no-config rejected-log= tries= retry-connrefused retry-on-http-error= output-document= no-clobber no-netrc
        continue start-pos= progress= show-progress timestamping no-if-modified-since no-use-server-timestamps server-response
        spider timeout= dns-timeout= connect-timeout= read-timeout= wait= waitretry= random-wait no-proxy quota= bind-address=
        limit-rate= no-dns-cache restrict-file-names= ignore-case inet4-only inet6-only prefer-family= user= password=
        ask-password use-askpass= no-iri local-encoding= remote-encoding= unlink xattr no-directories force-directories
        no-host-directories protocol-directories directory-prefix= cut-dirs= http-user= http-password= no-cache default-page=
        adjust-extension ignore-length header= compression= max-redirect= proxy-user= proxy-password= referer= save-headers
        user-agent= no-http-keep-alive no-cookies load-cookies= save-cookies= keep-session-cookies post-data= post-file= method=
        body-data= body-file= content-disposition content-on-error auth-no-challenge secure-protocol= https-only
        no-check-certificate certificate= certificate-type= private-key= private-key-type= ca-certificate= ca-directory=
        crl-file= pinnedpubkey= ciphers= no-hsts hsts-file= ftp-user= ftp-password= no-remove-listing no-glob no-passive-ftp
        preserve-permissions retr-symlinks ftps-implicit ftps-resume-ssl ftps-clear-data-connection ftps-fallback-to-ftp
        warc-file= warc-header= warc-max-size= warc-cdx warc-dedup= no-warc-compression no-warc-digests no-warc-keep-log
        warc-tempdir= recursive level= delete-after convert-links convert-file-only backups[=] backup-converted mirror
        page-requisites strict-comments accept= reject= accept-regex= reject-regex= regex-type= domains= exclude-domains=
        follow-ftp follow-tags= ignore-tags= span-hosts relative include-directories= trust-server-names exclude-directories=
        no-parent proxy[=] host-directories directories parent local-plugin= plugin= http-keep-alive check-certificate cookies
        cache dns-cache glob passive-ftp hsts clobber netrc iri remove-listing warc-compression warc-digests warc-keep-log
        if-modified-since use-server-timestamps restrict-file-names= egd-file= random-file= bind-dns-address= dns-servers=
        http-passwd= proxy-passwd= save-content-on=`.replace(/\s+/g, ' '),
      negatable: true,
    },
    effects: allOf(
      unknownOptions,
      startOptions('use-askpass'),
      (call) =>
        call.options
          .values('e', 'execute')
          .filter(
            ({ text }) =>
              !/^\s*(?:robots|https?_proxy|use_proxy|check_certificate|timeout|tries|quiet)\s*=/.test(
                text ?? '',
              ),
          )
          .map((at) => refused(call, '-e gives a setting that may run programs', at)),
      refuseOptions({ config: fromFile, 'local-plugin': 'loads code', plugin: 'loads code' }),
      writeOptions(
        'O',
        'output-document',
        'o',
        'output-file',
        'a',
        'append-output',
        'save-cookies',
        'warc-file',
        'rejected-log',
        'hsts-file',
        'warc-tempdir',
      ),
      (call) => fetched(call, call.options.last('P', 'directory-prefix')),
    ),
    runs: [
      ['wget --use-askpass=touch url', 'touch'],
      ['wget --use-ask touch url', 'touch'],
      'wget -e use_askpass=./x url',
      'wget --execute=output_document=x url',
      'wget --config=./rc url',
      'wget -O ~/.bashrc url',
      'wget -P ~/.ssh https://x/authorized_keys',
      'wget -qO /etc/x url',
      'wget -o ~/.profile url',
      'wget -E --use-askpass=./x url',
      'wget -N --use-askpass=./x url',
      'wget --backups --use-askpass=./x url',
      'wget --directory .git/hooks url/x',
      'wget -x -nH https://h/.vscode/tasks.json',
      'wget -r -nH --no-parent https://h/a/.git/',
      'wget -P .git/hooks url/',
      'wget --some-new-option url',
    ],
    harmless: [
      'wget https://example.com/a.tgz',
      'wget -qO- url',
      'wget -O out url',
      'wget -P /tmp url',
      'wget --directory-prefix=/tmp --no-host-directories --user-agent=x url',
      'wget -i urls.txt',
      'wget -e robots=off -r url',
      'wget --post-file=a url',
      'wget -c -nv url',
      'wget -r -np -nH --cut-dirs=2 -A "*.html" url',
      'wget --no-check-certificate -q -N url',
    ],
  },
  {
    names: ['aria2c', 'axel', 'http', 'https', 'xh', 'lftp', 'ftp'],
    effects: fetchers,
    runs: [
      'aria2c --on-download-complete=touch url',
      'aria2c --conf-path=./x url',
      "ftp host <<< '!touch x'",
      "ftp -n host <<'E'\nget x |touch\nE",
      "lftp -c '!touch x'",
      "lftp -e 'shell touch x' host",
      'aria2c -o .bashrc -d /root url',
      'http --download -o ~/.bashrc url',
    ],
    harmless: [
      'aria2c -x 4 url',
      'http GET url a=b',
      "lftp -c 'open host; mirror a b'",
      "ftp -n host <<'E'\nuser a b\nbinary\nput x\nquit\nE",
      'xh url',
      'axel -n 4 url',
    ],
  },
];

/** `curl -w` writes the rest of its text to a file after `%output{file}`, and reads its text from a file after `@`. */
function formatFiles({ options }: ProgramCall): Effect[] {
  return options.values('w', 'write-out').flatMap((format): Effect[] => {
    if (prefixOf(format).startsWith('@'))
      return [{ does: 'refuse', at: format, reason: 'curl -w @FILE may write to files that FILE names' }];
    const files = [...prefixOf(format).matchAll(/%output\{(?:>>)?([^}]*)/g)];
    return files.map(([, path = '']) => ({ does: 'write', path: knownArg(path, format) }));
  });
}

/** Sockets of services that start programs for their clients. */
function controlSockets(call: ProgramCall): Effect[] {
  return call.options
    .values('unix-socket', 'abstract-unix-socket')
    .filter(({ text }) =>
      /docker|podman|containerd|crio|systemd|dbus|bus$|snapd|lxd|incus|libvirt/.test(text ?? 'bus'),
    )
    .map((at) => refused(call, 'would talk to a service that starts programs', at));
}

/** Output files. In their names, curl replaces `#1` with the word that it selects from the first `{a,b}` in a URL. */
function globbed({ options }: ProgramCall): Arg[] {
  const outputs = options.values('o', 'output');
  if (!outputs.some(({ text }) => text !== undefined && /#\d/.test(text))) return outputs;
  const sets = [...options.operands, ...options.values('url')].flatMap(({ text = '' }) => [
    ...text.matchAll(/\{([^{}]*)\}/g),
  ]);
  const parts = sets.flatMap(([, set = '']) => set.split(',')).slice(0, 64);
  return outputs.flatMap((output) => [
    output,
    ...parts.map((part) => knownArg((output.text ?? '').replace(/#\d/g, part), output)),
    withRange((output.text ?? '').replace(/#\d/g, '[]'), output),
  ]);
}

/** The name of a file in which curl replaces `[a-z]` with a letter or a number. */
function withRange(name: string, at: Arg): Arg {
  const pieces = name
    .split(/\[[^[\]]{0,80}\]/)
    .flatMap((text, index): Piece[] => (index === 0 ? [text] : [anyName, text]));
  return toArg(pieces, at);
}

const anyName: Piece = { hole: 'glob', text: '*' };

/** The names in the last part of a URL with `{a,b}` and `[a-z]`. */
function namesIn(last: string, call: ProgramCall): Arg[] {
  const set = /\{([^{}]*)\}/.exec(last);
  if (set === null) return [withRange(last, call.self)];
  const [whole, choices = ''] = set;
  return choices
    .split(',')
    .slice(0, 32)
    .map((choice) => withRange(last.replace(whole, choice).replace(/\{[^{}]*\}/g, '[]'), call.self));
}

/** Output files, relative to the folder that another option names. */
function inFolder(call: ProgramCall, files: readonly Arg[], folder: Arg | undefined): Effect[] {
  return files
    .filter(({ text }) => text !== '-')
    .map(
      (path): Effect => ({
        does: 'write',
        path:
          folder?.text === undefined || path.text === undefined
            ? path
            : knownArg(`${folder.text}/${path.text}`, call.self),
      }),
    );
}

/** Output files that are named after the URLs. */
function fetched(call: ProgramCall, folder: Arg | undefined): Effect[] {
  const makesFolders = call.options.has(
    'x',
    'force-directories',
    'r',
    'recursive',
    'm',
    'mirror',
    'p',
    'page-requisites',
  );
  const names = call.options.operands.flatMap(({ text }) => {
    const [path = ''] = text?.split(/[?#]/) ?? [];
    return makesFolders ? path.replace(/^\w+:\/+/, '') : (path.split('/').at(-1) ?? []);
  });
  // The server may choose another name.
  const all = folder === undefined ? names : [...names, 'file'];
  return inFolder(
    call,
    all
      .filter((name) => name !== '')
      .flatMap((name) => (call.name === 'curl' ? namesIn(name, call) : knownArg(name, call.self))),
    folder,
  );
}

/** Commands of ftp and lftp on stdin: `!` starts a shell, `$` a macro, and `|` a program. */
function ftpInput(call: ProgramCall): Effect[] {
  const harmless =
    /^\s*(?:(?:ascii|bin|binary|bye|cd|cdup|close|dir|exit|get|hash|lcd|ls|mget|mirror|mkdir|mput|open|passive|pass|prompt|put|pwd|quit|user|verbose)\b[^|!$]*)?$/;
  const runs = stdinText(call)
    .split('\n')
    .some((line) => !harmless.test(line));
  return [...unknownInput(call), ...(runs ? [refused(call, 'would run commands in its input')] : [])];
}

/** The hidden files in a command of an FTP client, which may write them: `get x -o .git/config`. */
function hiddenPaths(line: Arg): Effect[] {
  return (line.text ?? '')
    .split(/[\s;"']+/)
    .filter((word) => /^\.\w|\/\.\w/.test(word))
    .map((word) => ({ does: 'write', path: knownArg(word, line) }));
}

function fetchers(call: ProgramCall): Effect[] {
  const value = (pattern: RegExp): Arg | undefined => {
    const at = call.args.findIndex((arg) => pattern.test(arg.text ?? ''));
    return at < 0 ? undefined : call.args[at + 1];
  };
  const hooks = call.args.filter(
    ({ text }) =>
      /^--(?:on-(?:download|bt)-|conf-path|save-session)/.test(text ?? '') && call.name === 'aria2c',
  );
  const lines = call.name === 'lftp' ? [value(/^-[ce]$/)].flatMap((line) => line ?? []) : [];
  const runs = lines.filter((line) =>
    /(?:^|[;&|\n])\s*(?:!|shell|local|source|\.|lftp|alias|at|set\s+\S*(?:connect-program|auto-commit-program))|[|]/.test(
      line.text ?? '!',
    ),
  );
  const output = value(/^(?:-o|--output|--out)$/);
  const typed = /^l?ftp$/.test(call.name) ? ftpInput(call) : [];
  return [
    ...typed,
    ...hooks.map((at) => refused(call, 'runs a program or reads settings from a file', at)),
    ...runs.map((at) => refused(call, 'would run commands', at)),
    ...[...lines, ...(call.name.endsWith('ftp') ? [knownArg(stdinText(call), call.self)] : [])].flatMap(
      hiddenPaths,
    ),
    ...(output === undefined ? [] : inFolder(call, [output], value(/^(?:-d|--dir)$/))),
  ];
}
