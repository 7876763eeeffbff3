import type { ProgramCall } from '../options/program-call.ts';
import { type Arg, knownArg } from '../words/arg.ts';
import { allOf, refuseOptions } from './effects.ts';
import { refused, startOptions, writeOptions } from './option-effects.ts';
import type { Effect, ProgramEntry } from './program.ts';

const fromFile = 'takes settings from a file';

/** Download programs such as `curl` and `wget`: the files that they write and the programs that their settings run. */
export const transferPrograms: readonly ProgramEntry[] = [
  {
    names: ['curl'],
    options: {
      short: '#012346aA:b:Bc:C:d:D:e:E:fF:gGhH:iIjJkK:lLm:MnNo:OpP:qQ:r:RsSt:T:u:U:vVw:x:X:y:Y:z:Z:',
      long: `output= output-dir= remote-name remote-name-all remote-header-name config= dump-header= cookie-jar= cookie= trace= trace-ascii=
        stderr= etag-save= etag-compare= hsts= alt-svc= libcurl= engine= data= data-raw= data-binary= data-urlencode= form= form-string=
        header= request= user= user-agent= referer= url= upload-file= write-out= max-time= connect-timeout= retry= retry-delay=
        proxy= cacert= capath= cert= key= range= resolve= interface= limit-rate= silent show-error fail fail-with-body location
        insecure include head compressed get verbose create-dirs parallel parallel-max= netrc-file= json= unix-socket= aws-sigv4=
        proto= max-redirs= tls-max= ciphers= no-progress-meter progress-bar continue-at= remote-time version help`.replace(
        /\s+/g,
        ' ',
      ),
    },
    effects: allOf(
      (call) => inFolder(call, call.options.values('o', 'output'), call.options.last('output-dir')),
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
    ),
    runs: [
      'curl -o ~/.bashrc url',
      'curl -sLo /etc/x url',
      'curl --output /usr/bin/ls url',
      'curl -K conf',
      'curl --config conf url',
      'curl -o /dev/sda url',
      'curl --output-dir ~/.ssh -O https://x/authorized_keys',
      'curl --engine ./x.so url',
      'curl -c ~/.bashrc url',
    ],
    harmless: [
      'curl -fsSL https://example.com -o out.tgz',
      "curl -X POST -H 'A: b' -d '{\"a\":1}' url",
      'curl -O https://x/a.tgz',
      'curl -s url',
      'curl -d @file url',
      'curl -o /dev/null -w "%{http_code}" url',
      'curl -T file url',
      'curl "$URL"',
    ],
  },
  {
    names: ['wget', 'wget2'],
    options: {
      short: 'Va:A:bB:cC:dD:e:E:FgG:hHi:I:kKl:LmMnN:o:O:pP:qQ:rR:sSt:T:U:vw:W:x:X:Y:',
      long: 'use-askpass= execute= config= output-document= output-file= append-output= directory-prefix= save-cookies= load-cookies= warc-file= rejected-log= post-data= post-file= input-file= header= user-agent= user= password= timeout= tries= wait= limit-rate= level= accept= reject= referer= quiet no-verbose continue recursive mirror no-check-certificate background show-progress no-clobber timestamping spider body-data= body-file= method= ca-certificate= page-requisites convert-links no-parent version help plugin= local-plugin= bind-dns-address=',
    },
    effects: allOf(
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
    ],
    harmless: [
      'wget https://example.com/a.tgz',
      'wget -qO- url',
      'wget -O out url',
      'wget -P /tmp url',
      'wget -i urls.txt',
      'wget -e robots=off -r url',
      'wget --post-file=a url',
      'wget -c -nv url',
    ],
  },
  {
    names: ['aria2c', 'axel', 'http', 'https', 'xh', 'lftp', 'ftp'],
    effects: fetchers,
    runs: [
      'aria2c --on-download-complete=touch url',
      'aria2c --conf-path=./x url',
      "lftp -c '!touch x'",
      "lftp -e 'shell touch x' host",
      'aria2c -o .bashrc -d /root url',
      'http --download -o ~/.bashrc url',
    ],
    harmless: [
      'aria2c -x 4 url',
      'http GET url a=b',
      "lftp -c 'open host; mirror a b'",
      'xh url',
      'axel -n 4 url',
    ],
  },
];

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
  const names = call.options.operands.flatMap(({ text }) =>
    text === undefined ? [] : (text.split(/[?#]/)[0]?.split('/').at(-1) ?? []),
  );
  return inFolder(
    call,
    names.filter((name) => name !== '').map((name) => knownArg(name, call.self)),
    folder,
  );
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
  return [
    ...hooks.map((at) => refused(call, 'runs a program or takes settings from a file', at)),
    ...runs.map((at) => refused(call, 'would run commands', at)),
    ...(output === undefined ? [] : inFolder(call, [output], value(/^(?:-d|--dir)$/))),
  ];
}
