import type { ProgramCall } from '../options/program-call.ts';
import { type Arg, knownArg, prefixOf } from '../words/arg.ts';
import { shellOptions } from './effects.ts';
import { containsName } from './names-in-code.ts';
import { refused, stdinText, unknownInput, unknownOptions, writeOptions } from './option-effects.ts';
import type { Effect, ProgramEntry } from './program.ts';
import { sqlCode, sqlParts } from './sql-text.ts';
import { judgeWritten } from './written-files.ts';

/** Database clients: commands in their input, such as `\!` in psql, that start programs or write files. */
export const databasePrograms: readonly ProgramEntry[] = [
  {
    names: ['sqlite3', 'sqlite', 'duckdb', 'sqlcipher'],
    closed: [],
    options: {
      singleDash: true,
      long: 'cmd= init= c= s= f= separator= nullvalue= newline= mmap= vfs= maxsize= cache= lookaside= pagecache= heap= bail batch box column csv deserialize echo header noheader help html interactive json line list A append ascii stats markdown memtrace nofollow nonce= quote readonly safe table tabs unsafe-testing version zip no-stdin unsigned ui',
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
      "sqlite3 .git/hooks/x 'create table t(a)'",
      "sqlite3 db '.cd .git/hooks' '.once x'",
      ['sqlite3 db \'.import "|touch x" t\'', 'touch'],
      "sqlite3 db '.load ./x.so'",
      "sqlite3 -append .git/config 'create table t(x)'",
      'sqlite3 db "SELECT load_extension(\'./x\')"',
      "sqlite3 db \"SELECT writefile('/root/.bashrc', 'x')\"",
      "sqlite3 db \"SELECT edit('a', 'touch')\"",
      "sqlite3 db '.output /etc/x'",
      "sqlite3 db '.once -e' 'select 1'",
      "sqlite3 db '.outp --x' 'select 1'",
      'sqlite3 db "$sql"',
      'for f in *; do sqlite3 db "insert into t values(\'$f\')"; done',
      'sqlite3 .git/config "create table $t(x)"',
      "sqlite3 'file:.%67it/config?mode=rwc' 'create table t(x)'",
      'sqlite3 db "attach \'file:.git/config\' as x"',
      'sqlite3 db "create virtual table x using zipfile(\'.git/config\')"',
      "duckdb db -c '.shell touch x'",
      "sqlite3 db '.excel'",
      "sqlite3 db '.read |touch x'",
      ["sqlite3 db '.sy touch x'", 'touch'],
      'sqlite3 :memory: "select load_extension/**/(\'./x\')"',
      "sqlite3 :memory: \"select writefile('/root/'||'.bashrc','x')\"",
      'sqlite3 :memory: \'select "load_extension"(1)\'',
      'sqlite3 db "attach \'/root/.bashrc\' as x"',
      'sqlite3 db "vacuum into \'/root/.bashrc\'"',
      "tr a b <<< '.furyy gbhpu k' | sqlite3 db",
      "sqlite3 db '.archive -x'",
      'sqlite3 -A -x db',
      'sqlite3 --new-option db',
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
      ['cat schema.sql | sqlite3 db', 'cat'],
      "sqlite3 db '.import --csv data.csv t'",
      "sqlite3 db \"insert into edits values ('it''s -- fine')\"",
      "sqlite3 db '.backup copy.db'",
    ],
  },
  {
    names: ['psql', 'pgcli'],
    closed: ['less', '/usr/lib/postgresql'],
    open: ['pgcli'],
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
      ['psql -c "copy t to program\'touch x\'"', 'touch'],
      'psql -c "copy t to/**/program/**/E\'touch x\'"',
      "tr a b <<< '\\! gbhpu k' | psql",
      "psql -c '\\setenv PAGER ./x'",
      "psql -c '\\gexec'",
      "psql -f <(echo '\\! touch x')",
      "psql -c '\\pset pager ./x'",
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
      ['gunzip -c dump.sql.gz | psql db', 'gunzip'],
      "psql -c '\\x' -c 'select 1'",
      'psql "$DATABASE_URL" -c "\\dt"',
      "psql -c \"select 'a\\b', E'x\\n'\"",
      "psql -c '\\timing on' -c 'select program_id from t'",
    ],
  },
  {
    names: ['mysql', 'mariadb', 'mycli'],
    closed: ['less'],
    open: ['mycli'],
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
    closed: [],
    effects: (call) => {
      const words = [...call.args.map((arg) => arg.text ?? ''), stdinText(call)].join(' ');
      return /\bconfig\s+set\s+(?:dir|dbfilename)\b|\bmodule\s+load|\b(?:slaveof|replicaof)\s+(?!no\b)/i.test(
        words,
      )
        ? [refused(call, 'would make the server load code or write files elsewhere')]
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
    closed: ['/usr/lib/postgresql'],
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

/**
 * A statement may contain unknown data. It is refused if its beginning is unknown, because it could be any command, and if it contains
 * the name of a file, which can end a string and begin other code.
 */
function unclear(call: ProgramCall, text: Arg): Effect[] {
  return text.text === undefined && (prefixOf(text).trim() === '' || containsName(text))
    ? [{ does: 'unknown', at: text, reason: `what ${call.name} would do cannot be known` }]
    : [];
}

function readable(text: Arg): string {
  return text.pieces.map((piece) => (typeof piece === 'string' ? piece : '1')).join('');
}

function sqliteEffects(call: ProgramCall): Effect[] {
  const { options } = call;
  const texts = [...options.operands.slice(1), ...options.values('cmd', 'c', 's')];
  const changes = texts.some((text) => /\b(?:create|insert|update|replace|alter)\b/i.test(readable(text)));
  const archive = options.given.filter(({ name }) => name === 'A');
  return [
    ...unknownOptions(call),
    ...unknownInput(call),
    ...archive.map(({ at }) => refused(call, '-A may write files', at)),
    ...(options.has('append') || changes ? options.operands.slice(0, 1) : []).map(
      (path): Effect => ({
        does: 'write',
        path: path.text === undefined ? path : knownArg(databasePath(path.text), path),
      }),
    ),
    ...judgeWritten(call, options.values('init', 'f'), (text) => sqliteText(call, readable(text), text)),
    ...options
      .values('init', 'f')
      .flatMap((file) =>
        /^(?:-|\/dev\/)/.test(file.text ?? '') ? [refused(call, 'would run what it reads', file)] : [],
      ),
    ...told(call, texts).flatMap((text) => [
      ...unclear(call, text),
      ...sqliteText(call, readable(text), text),
    ]),
  ];
}

/** Judges input for sqlite: lines that begin with a dot are commands of the client, the rest is SQL. */
function sqliteText(call: ProgramCall, text: string, at: Arg): Effect[] {
  const lines = text.split('\n');
  const dotted = lines.filter((line) => /^\s*\./.test(line));
  const sql = lines.filter((line) => !/^\s*\./.test(line)).join('\n');
  return [...dotted.flatMap((line) => dotCommand(call, line, at)), ...sqliteSql(call, sql, at)];
}

const dotReading =
  'auth bail binary cd changes check columns connection databases dbinfo dump echo eqp exit expert explain fullschema headers help import indexes indices limit lint maxrows mode nullvalue open parameter print progress prompt quit read recover restore schema scanstats separator sha3sum show stats tables timeout timer version vfsinfo vfslist vfsname width'.split(
    ' ',
  );
const dotWriting = 'backup clone log once output save trace'.split(' ');
const dotShell = ['shell', 'system'];
const dotOther =
  'archive dbconfig edit excel filectrl imposter load nonce selftest session testcase testctrl unmodule www dbtotxt intck'.split(
    ' ',
  );
const dotNames = [...dotReading, ...dotWriting, ...dotShell, ...dotOther];

/** Sqlite accepts abbreviations, so a command counts as the worst of those that it may mean. */
function dotCommand(call: ProgramCall, line: string, at: Arg): Effect[] {
  const [, typed = '', rest = ''] = /^\s*\.(\w*)(.*)$/s.exec(line) ?? [];
  const names = dotNames.includes(typed) ? [typed] : dotNames.filter((name) => name.startsWith(typed));
  if (names.some((name) => dotShell.includes(name)))
    return [{ does: 'shell', text: knownArg(rest.trim(), at) }];
  if (names.length === 0 || names.some((name) => dotOther.includes(name)))
    return [refused(call, `.${typed} is not known to be harmless`, at)];
  const words = rest.trim();
  if (/^-{1,2}[exw]\b/.test(words) && names.some((name) => /^(?:once|output)$/.test(name)))
    return [refused(call, `.${typed} ${words} starts another program`, at)];
  const piped = /^(?:-{1,2}\w+\s+){0,9}["']?\|(.*)$/s.exec(words)?.[1];
  if (piped !== undefined) return [{ does: 'shell', text: knownArg(pipedCommand(names, words, piped), at) }];
  if (/[|\\]/.test(words) && names.some((name) => /^(?:read|import|once|output|trace|log|open)$/.test(name)))
    return [refused(call, `.${typed} might start a program`, at)];
  const file =
    words
      .replace(/^(?:-{1,2}\w+\s+){0,9}/, '')
      .replace(/["']/g, '')
      .split(/\s+/)
      .at(-1) ?? '';
  if (names.includes('read'))
    return judgeWritten(call, [knownArg(file, at)], () => [
      refused(call, '.read runs a file that this command writes', at),
    ]);
  if (names.includes('cd')) return [{ does: 'write', path: knownArg(`${file}/file`, at) }];
  const writes = names.some((name) => dotWriting.includes(name) || name === 'open');
  return writes && file !== '' && !/^(?:stdout|stderr|off)$/.test(file)
    ? [{ does: 'write', path: knownArg(databasePath(file), at) }]
    : [];
}

/** `.import "|cmd" table` runs the text in the quotes. */
function pipedCommand(names: readonly string[], words: string, piped: string): string {
  const quote = /["']/.exec(words)?.[0];
  if (quote !== undefined) return piped.split(quote)[0] ?? '';
  return names.includes('import') ? piped.trim().split(/\s+/).slice(0, -1).join(' ') : piped;
}

/** The path in an address such as `file:a.db?mode=rwc`. */
function databasePath(name: string): string {
  const address = /^file:(?:\/\/(?:localhost)?(?=\/))?([^?#]*)/i.exec(name)?.[1];
  if (address === undefined) return name;
  return address.replace(/%([0-9a-f]{2})/gi, (_, code: string) =>
    String.fromCharCode(Number.parseInt(code, 16)),
  );
}

/** Functions of the sqlite shell that load code, start an editor or write files; SQL that creates files. */
function sqliteSql(call: ProgramCall, sql: string, at: Arg): Effect[] {
  const parts = sqlParts(sql);
  const code = sqlCode(parts).toLowerCase();
  if (/\b(?:load_extension|edit|fts3_tokenizer)\b/.test(code))
    return [refused(call, 'would run code or an editor', at)];
  return parts.flatMap(({ kind, text }, index): Effect[] => {
    if (kind !== 'code') return [];
    const before = text.toLowerCase();
    const writes = /\bwritefile\b|\battach\b|\bvacuum\b[^;]*\binto\b|\busing\s+zipfile\b/.test(before);
    if (!writes) return [];
    const path = parts[index + 1];
    const direct = /(?:\b(?:writefile|zipfile)\s*\(|\battach(?:\s+database)?|\binto)\s*$/.test(before);
    const ends = /^\s*(?:[,)]|as\b|;|$)/i.test(parts[index + 2]?.text ?? '');
    return direct && ends && path !== undefined
      ? [{ does: 'write', path: knownArg(databasePath(path.text), at) }]
      : [refused(call, 'would write a file that cannot be known', at)];
  });
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
    ...unknownOptions(call),
    ...unknownInput(call),
    ...output,
    ...judgeWritten(call, options.values('f', 'file'), (text) =>
      readable(text)
        .split('\n')
        .flatMap((line) => psqlLine(call, line, text)),
    ),
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

/** Backslash commands of psql that print, describe and set display options. */
const psqlCommands =
  /^(?:a|C|c|cd|connect|conninfo|copyright|crosstabview|d[a-zA-Z+]*|echo|elif|else|encoding|endif|errverbose|f|gdesc|gset|h|H|help|i|if|include|include_relative|ir|l\+?|list\+?|lo_list|lo_unlink|lo_import|p|password|pset|q|qecho|r|reset|sf\+?|sv\+?|t|T|timing|unset|warn|watch|x|z|\?|;|\\|restrict|unrestrict)$/;

function psqlLine(call: ProgramCall, line: string, at: Arg): Effect[] {
  const shell = (text: string): Effect => ({ does: 'shell', text: knownArg(text, at) });
  const parts = sqlParts(line);
  const code = sqlCode(parts);
  if (/\bprogram\b/i.test(code)) {
    const place = parts.findIndex(
      ({ kind, text }) => kind === 'code' && /\bprogram\s{0,9}e?\s{0,9}$/i.test(text),
    );
    const program = parts[place + 1];
    return [
      place >= 0 && program !== undefined ? shell(program.text) : refused(call, 'would run a program', at),
    ];
  }
  if (/\blanguage\s+'?(?:c|plpython\w*|plperlu|plsh)\b/i.test(code))
    return [refused(call, 'would create a function that runs code', at)];
  const commands = [...code.matchAll(/\\(!|[a-zA-Z_?]+\+?|;|\\)([^\\]*)/g)];
  return commands.flatMap(([, name = '', rest = ''], index): Effect[] => {
    if (name === '!') {
      const text = line.slice(line.indexOf('\\!') + 2).trim();
      return [text === '' ? refused(call, '\\! starts a shell', at) : shell(text)];
    }
    if (commands.slice(0, index).some(([, before]) => before === '!')) return [];
    return psqlCommand(call, name, line.includes('`') ? '`' : rest.trim(), at);
  });
}

function psqlCommand(call: ProgramCall, name: string, rest: string, at: Arg): Effect[] {
  if (rest.includes('`') || /pager/i.test(rest)) return [refused(call, `\\${name} might run a program`, at)];
  const written = /^(?:o|out|w|write|s|g|gx|lo_export)$/.test(name);
  const target = written ? rest.replace(/^\([^)]*\)\s*/, '') : '';
  if (target.startsWith('|')) return [{ does: 'shell', text: knownArg(target.slice(1), at) }];
  if (written)
    return target === '' ? [] : [{ does: 'write', path: knownArg(target.split(/\s+/).at(-1) ?? '', at) }];
  if (name === 'copy') {
    const file = /\bto\s+'?([^\s']+)/i.exec(rest)?.[1];
    return file === undefined || /^(?:stdout|pstdout)$/i.test(file)
      ? []
      : [{ does: 'write', path: knownArg(file, at) }];
  }
  if (name === 'set' && /^(?:|\w+(?:\s+[^`]*)?)$/.test(rest) && !/PROMPT|EDITOR/i.test(rest)) return [];
  return psqlCommands.test(name) ? [] : [refused(call, `\\${name} is not known to be harmless`, at)];
}

function mysqlEffects(call: ProgramCall): Effect[] {
  const { options } = call;
  const reason = 'chooses code or settings that run programs';
  return [
    ...unknownOptions(call),
    ...unknownInput(call),
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
  const shell =
    /^(?:system\s|\\!)(.*)$/is.exec(statement.trimStart())?.[1] ?? /\\!\s*(.*)$/s.exec(statement)?.[1];
  if (shell !== undefined) return [{ does: 'shell', text: knownArg(shell, at) }];
  const pager = /^\s*pager\s+(\S.*)$/is.exec(statement)?.[1] ?? statement.split('\\P')[1];
  if (pager !== undefined) return [{ does: 'shell', text: knownArg(pager, at) }];
  if (
    /^\s*(?:edit|\\e)\b|\binto\s+(?:outfile|dumpfile)\b|\bcreate\s+(?:aggregate\s+)?function\b[^;]*\bsoname\b/i.test(
      statement,
    )
  )
    return [refused(call, 'would run an editor, load code or have a file written', at)];
  const file = /^\s*tee\s+(\S+)/i.exec(statement)?.[1] ?? statement.split('\\T')[1]?.trim();
  return file === undefined ? [] : [{ does: 'write', path: knownArg(file, at) }];
}
