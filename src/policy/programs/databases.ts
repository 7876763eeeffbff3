import type { ProgramCall } from '../options/program-call.ts';
import { type Arg, knownArg, prefixOf } from '../words/arg.ts';
import { shellOptions } from './effects.ts';
import { refused, stdinText, writeOptions } from './option-effects.ts';
import type { Effect, ProgramEntry } from './program.ts';

/** Database clients: commands in their input, such as `\!` in psql, that start programs or write files. */
export const databasePrograms: readonly ProgramEntry[] = [
  {
    names: ['sqlite3', 'sqlite', 'duckdb', 'sqlcipher'],
    options: {
      singleDash: true,
      long: 'cmd= init= c= s= f= separator= nullvalue= newline= mmap= vfs= maxsize= cache= lookaside= pagecache= heap= bail batch box column csv deserialize echo header noheader help html interactive json line list markdown memtrace nofollow nonce= quote readonly safe table tabs unsafe-testing version zip no-stdin unsigned ui',
    },
    effects: sqliteEffects,
    runs: [
      ["sqlite3 db '.shell touch x'", 'touch'],
      ["sqlite3 db '.system touch x'", 'touch'],
      ["sqlite3 -cmd '.shell touch x' db", 'touch'],
      ["sqlite3 db <<< '.sh touch x'", 'touch'],
      ["echo '.shell touch x' | sqlite3 db", 'echo', 'touch'],
      ["sqlite3 db '.output |touch x'", 'touch'],
      ["sqlite3 db '.once |touch x'", 'touch'],
      ['sqlite3 db \'.import "|touch x" t\'', 'touch'],
      "sqlite3 db '.load ./x.so'",
      'sqlite3 db "SELECT load_extension(\'./x\')"',
      "sqlite3 db \"SELECT writefile('/root/.bashrc', 'x')\"",
      "sqlite3 db \"SELECT edit('a', 'touch')\"",
      "sqlite3 db '.output /etc/x'",
      'sqlite3 db "$sql"',
      "duckdb db -c '.shell touch x'",
      "sqlite3 db '.excel'",
      "sqlite3 db '.read |touch x'",
    ],
    harmless: [
      "sqlite3 db 'SELECT * FROM t WHERE a > 1;'",
      'sqlite3 -header -csv db "select 1"',
      "sqlite3 db '.tables'",
      "sqlite3 db '.schema t'",
      'sqlite3 db < schema.sql',
      "sqlite3 db '.mode csv' '.output out.csv' 'select 1'",
      "sqlite3 db '.dump'",
      'sqlite3 db "select * from t where id = $id"',
      'sqlite3 --version',
      'sqlite3 db "select \'see .shell docs\'"',
    ],
  },
  {
    names: ['psql', 'pgcli'],
    options: {
      short: 'ac:d:eEf:F:h:HL:lnNo:p:P:qR:sStT:U:v:VwWxXz01?A',
      long: 'command= dbname= file= list set= variable= version no-psqlrc single-transaction help echo-all echo-errors echo-queries echo-hidden log-file= no-readline output= quiet single-step single-line no-align csv field-separator= html pset= record-separator= tuples-only table-attr= expanded field-separator-zero record-separator-zero host= port= username= no-password password',
    },
    effects: psqlEffects,
    runs: [
      ["psql -c '\\! touch x'", 'touch'],
      ["psql db <<< '\\! touch x'", 'touch'],
      ["psql <<'E'\nselect 1;\n\\! touch x\nE", 'touch'],
      ['psql -c "COPY t TO PROGRAM \'touch x\'"', 'touch'],
      ['psql -c "copy t from program \'touch x\'"', 'touch'],
      ['psql -c "\\copy t to program \'touch x\'"', 'touch'],
      ["psql -c '\\o |touch x'", 'touch'],
      ["psql -c 'select 1 \\g |touch x'", 'touch'],
      ["psql -o '|touch x' -c 'select 1'", 'touch'],
      "psql -c '\\set x `touch x`'",
      "psql -c '\\e'",
      'psql -c "$x"',
      'psql -P pager_x=1 -v "PROMPT1=%`touch x`"',
    ],
    harmless: [
      "psql -c 'select 1'",
      "psql -U u -d db -c 'SELECT * FROM t'",
      'psql -f schema.sql db',
      "psql -c '\\dt'",
      'psql -l',
      'psql db < dump.sql',
      'psql -At -c "select count(*) from t where id = $id"',
      "psql -c '\\copy t to out.csv csv'",
    ],
  },
  {
    names: ['mysql', 'mariadb', 'mycli'],
    options: {
      short: 'ABbC#::cD:d:e:EfGHh:ijLnNo:p::P:qrsS:tTu:UvVwWX?',
      long: 'execute= database= host= password[=] port= user= socket= pager[=] tee= init-command= plugin-dir= defaults-file= defaults-extra-file= default-auth= batch skip-column-names table silent raw html xml vertical force verbose version help ssl-mode= protocol= local-infile[=] delimiter= max-allowed-packet= default-character-set= no-defaults login-path= system-command[=]',
    },
    effects: mysqlEffects,
    runs: [
      ["mysql -e 'system touch x'", 'touch'],
      ["mysql -e '\\! touch x'", 'touch'],
      ["mysql -e 'select 1; system touch x'", 'touch'],
      ["mysql db <<< 'system touch x'", 'touch'],
      ["mysql --pager='touch x' -e 'select 1'", 'touch'],
      'mysql -e "select 1 into outfile \'/root/.bashrc\'"',
      'mysql --plugin-dir=. db',
      'mysql --defaults-file=./x db',
      'mysql -e "$x"',
      "mysql -e 'pager touch x'",
    ],
    harmless: [
      "mysql -u root -p db -e 'SHOW TABLES'",
      'mysql db < dump.sql',
      'mysql --version',
      "mysql -N -e 'select file_system from t'",
      'mysql -e "select * from t where id=$id"',
    ],
  },
  {
    names: ['redis-cli', 'valkey-cli'],
    effects: (call) => {
      const words = [...call.args.map((arg) => arg.text ?? ''), stdinText(call)].join(' ');
      return /\bconfig\s+set\s+(?:dir|dbfilename)\b|\bmodule\s+load|\b(?:slaveof|replicaof)\s+(?!no\b)/i.test(
        words,
      )
        ? [refused(call, 'would have the server load code or write files elsewhere')]
        : [];
    },
    runs: [
      'redis-cli config set dir /root/.ssh',
      'redis-cli MODULE LOAD ./x.so',
      "redis-cli <<< 'config set dbfilename x'",
    ],
    harmless: ['redis-cli ping', 'redis-cli -h host get key', 'redis-cli --scan', 'redis-cli set a b'],
  },
  {
    names: ['pg_dump', 'pg_dumpall', 'mysqldump', 'mariadb-dump', 'mongodump', 'mongoexport'],
    options: { short: 'f:r:o:', long: 'file= result-file= out= output=' },
    effects: writeOptions('f', 'file', 'r', 'result-file', 'o', 'out', 'output'),
    runs: ['pg_dump -f ~/.bashrc db', 'mysqldump --result-file=/etc/x db'],
    harmless: ['pg_dump db -f dump.sql', 'mysqldump db', 'pg_dump -Fc db'],
  },
];

/** The input of a database client: option values such as `-c`, and stdin as far as it is known. */
function told(call: ProgramCall, texts: readonly Arg[]): Arg[] {
  return [...texts, knownArg(stdinText(call), call.self)];
}

/** A statement may contain unknown data, but if its beginning is unknown it could be any command. */
function unclear(call: ProgramCall, text: Arg): Effect[] {
  return text.text === undefined && prefixOf(text).trim() === ''
    ? [{ does: 'unknown', at: text, reason: `what ${call.name} would do cannot be known` }]
    : [];
}

function readable(text: Arg): string {
  return text.pieces.map((piece) => (typeof piece === 'string' ? piece : '1')).join('');
}

function sqliteEffects(call: ProgramCall): Effect[] {
  const texts = [...call.options.operands.slice(1), ...call.options.values('cmd', 'c', 's')];
  return told(call, texts).flatMap((text) => [
    ...unclear(call, text),
    ...readable(text)
      .split('\n')
      .flatMap((line) => sqliteLine(call, line, text)),
  ]);
}

function sqliteLine(call: ProgramCall, line: string, at: Arg): Effect[] {
  const [, name, rest = ''] = /^\s*\.([a-z]+)\s*(.*)$/is.exec(line) ?? [];
  if (name === undefined) {
    const file = /\bwritefile\s*\(\s*'([^']*)'/i.exec(line)?.[1];
    const loads = /\b(?:load_extension|edit)\s*\(/i.test(line);
    return [
      ...(loads ? [refused(call, 'would run code or an editor', at)] : []),
      ...(file === undefined ? [] : [{ does: 'write', path: knownArg(file, at) } as const]),
    ];
  }
  if (/^(?:sh|she|shel|shell|sys|syst|syste|system)$/i.test(name))
    return [{ does: 'shell', text: knownArg(rest, at) }];
  if (/^(?:load|excel|e|www|edit)$/i.test(name)) return [refused(call, `.${name} runs code`, at)];
  const piped = /(?:^|\s)["']?\|\s*([^"']*)/.exec(rest)?.[1];
  if (piped !== undefined)
    return [
      {
        does: 'shell',
        text: knownArg(
          piped.replace(/\s+\S+$/, (last) => (/^import$/i.test(name) && !/["']/.test(rest) ? '' : last)),
          at,
        ),
      },
    ];
  const file = rest.replace(/^-{1,2}\w+\s+/, '').replace(/["']/g, '');
  const writes = /^(?:o|ou|out|outp|outpu|output|on|once|backup|save|log|clone|trace|session)$/i.test(name);
  return writes && file !== '' && file !== 'stdout' && file !== 'off'
    ? [{ does: 'write', path: knownArg(file, at) }]
    : [];
}

function psqlEffects(call: ProgramCall): Effect[] {
  const { options } = call;
  const texts = told(call, options.values('c', 'command'));
  const output = options.values('o', 'output').flatMap((target): Effect[] => {
    if (!prefixOf(target).startsWith('|')) return [{ does: 'write', path: target }];
    return target.text === undefined
      ? [refused(call, '-o pipes into a program', target)]
      : [{ does: 'shell', text: knownArg(target.text.slice(1), target) }];
  });
  const variables = options
    .values('v', 'set', 'variable', 'P', 'pset')
    .filter((value) => /`|PAGER|EDITOR|PROMPT/i.test(value.text ?? ''));
  return [
    ...output,
    ...writeOptions('L', 'log-file')(call),
    ...variables.map((at) => refused(call, 'would be given a setting that runs programs', at)),
    ...texts.flatMap((text) => [
      ...unclear(call, text),
      ...readable(text)
        .split('\n')
        .flatMap((line) => psqlLine(call, line, text)),
    ]),
  ];
}

function psqlLine(call: ProgramCall, line: string, at: Arg): Effect[] {
  const shell = (text: string): Effect => ({ does: 'shell', text: knownArg(text, at) });
  const escaped = /\\!\s*(.*)$/.exec(line)?.[1];
  if (escaped !== undefined)
    return [escaped === '' ? refused(call, '\\! starts a shell', at) : shell(escaped)];
  const piped = /\\(?:o|out|g|gx|w|write)\s*(?:\([^)]*\)\s*)?\|\s*(.*)$/.exec(line)?.[1];
  if (piped !== undefined) return [shell(piped)];
  const program = /\bprogram\s+(?:E)?'((?:[^']|'')*)'/i.exec(line)?.[1];
  if (program !== undefined) return [shell(program.replaceAll("''", "'"))];
  if (/\bprogram\s+\$/i.test(line)) return [refused(call, 'would run a program', at)];
  if (/\\(?:e|edit|ef|ev|setenv)\b|\\[a-z]+\b[^']*`/.test(line))
    return [refused(call, `would run code: ${line.trim()}`, at)];
  const file = /\\(?:o|out|w|write|s|g|gx)\s+([^\s|\\;]+)/.exec(line)?.[1];
  return file === undefined ? [] : [{ does: 'write', path: knownArg(file, at) }];
}

function mysqlEffects(call: ProgramCall): Effect[] {
  const { options } = call;
  const reason = 'chooses code or settings that run programs';
  return [
    ...shellOptions('pager')(call),
    ...writeOptions('tee')(call),
    ...options
      .values('plugin-dir', 'defaults-file', 'defaults-extra-file')
      .map((at) => refused(call, reason, at)),
    ...told(call, options.values('e', 'execute', 'init-command')).flatMap((text) => [
      ...unclear(call, text),
      ...readable(text)
        .split(/[\n;]/)
        .flatMap((statement) => mysqlStatement(call, statement, text)),
    ]),
  ];
}

function mysqlStatement(call: ProgramCall, statement: string, at: Arg): Effect[] {
  const shell = /^\s*(?:system\s+|\\!\s*)(.*)$/is.exec(statement)?.[1] ?? /\\!\s*(.*)$/s.exec(statement)?.[1];
  if (shell !== undefined) return [{ does: 'shell', text: knownArg(shell, at) }];
  const pager = /^\s*(?:pager|\\P)\s+(\S.*)$/is.exec(statement)?.[1];
  if (pager !== undefined) return [{ does: 'shell', text: knownArg(pager, at) }];
  if (
    /^\s*(?:edit|\\e)\b|\binto\s+(?:outfile|dumpfile)\b|\bcreate\s+(?:aggregate\s+)?function\b[^;]*\bsoname\b/i.test(
      statement,
    )
  )
    return [refused(call, 'would run an editor, load code or have a file written', at)];
  const file = /^\s*(?:tee|\\T)\s+(\S+)/i.exec(statement)?.[1];
  return file === undefined ? [] : [{ does: 'write', path: knownArg(file, at) }];
}
