import type { ProgramCall } from '../options/program-call.ts';
import { type Arg, prefixOf, withoutPrefix } from '../words/arg.ts';
import { hasMisleadingFolder } from '../words/misleading-name.ts';
import type { Effect, ProgramEntry } from './program.ts';

/** Programs that write the files named in their arguments: `cp`, `tee`, `install`, `ln` … */
export const filePrograms: readonly ProgramEntry[] = [
  {
    names: ['dd', 'gdd', 'dcfldd'],
    closed: [],
    effects: ({ args }) =>
      args.filter((arg) => prefixOf(arg).startsWith('of=')).map((arg) => write(withoutPrefix(arg, 3))),
    runs: ['dd if=x of=~/.bashrc', 'dd of=.git/hooks/pre-commit', 'dd if=x of=/dev/sda'],
    harmless: [
      'dd if=/dev/zero of=./disk.img bs=1M count=1',
      'dd if=/dev/sda of=mbr.bin count=1',
      'dd of=/dev/null if=x',
    ],
  },
  {
    names: ['tee', 'sponge', 'truncate', 'shred', 'touch', 'mkfifo'],
    closed: [],
    options: {
      short: 'aipcs:r:n:uzvxf',
      long: 'append ignore-interrupts output-error[=] no-create size= reference= help version iterations= remove[=]',
    },
    effects: writtenInput,
    runs: [
      'tee ~/.bashrc',
      'tee -a .git/hooks/pre-push',
      'tee /dev/sda',
      'tee /dev/tcp/host/80',
      'tee /dev/mem',
      'truncate -s 0 /dev/sdb',
    ],
    harmless: ['tee out.log', 'tee -a a b', 'truncate -s 1M disk.img', 'tee /dev/stderr'],
  },
  {
    names: ['mkdir'],
    closed: [],
    options: {
      short: 'm:pvZ',
      long: 'mode= parents verbose context[=] help version',
    },
    effects: ({ options }) => options.operands.filter(hasMisleadingFolder).map(refuseName),
    runs: ['mkdir -- --upload-pack=x', 'mkdir -p a/-ux', "mkdir 'a -ux'"],
    harmless: ['mkdir -p src/a .vscode', 'mkdir -m 755 "$x"', 'mkdir a-b "My - Folder"'],
  },
  {
    names: ['cp', 'mv', 'install', 'ln', 'gcp', 'gmv'],
    closed: ['strip'],
    options: {
      short: 'abdfiHlLnpPRrsS:t:TuvxZm:o:g:cCD',
      long: 'archive attributes-only backup[=] copy-contents dereference force interactive link no-clobber no-dereference preserve[=] no-preserve= parents recursive reflink[=] remove-destination sparse= strip-trailing-slashes symbolic-link suffix= target-directory= no-target-directory update[=] verbose one-file-system mode= owner= group= compare directory strip strip-program= relative logical physical help version',
    },
    effects: copyEffects,
    runs: [
      'cp evil ~/.bashrc',
      'cp x .git/hooks/',
      'mv x /usr/bin/ls',
      'cp -t /etc x',
      'cp disk.img /dev/sda',
      'install -s --strip-program=./x a b',
      'ln -s .git x',
      'ln -s ~/.bashrc x',
      'ln -s / r',
      'ln -sf /usr/bin x',
      'ln ~/.ssh/config x',
    ],
    harmless: [
      'cp a b',
      'cp -r src dst',
      'mv a.txt /tmp',
      'ln -s a b',
      'ln -sfn ../shared/lib lib',
      'ln -s /srv/data/file data',
      'cp /etc/hosts .',
      'install -m 755 a bin/a',
    ],
  },
  {
    names: ['sort', 'gsort'],
    closed: [],
    options: {
      short: 'bdfghiMnRrVcCmsuzk:o:S:t:T:',
      long: 'ignore-leading-blanks dictionary-order ignore-case general-numeric-sort ignore-nonprinting month-sort human-numeric-sort numeric-sort random-sort random-source= reverse sort= version-sort batch-size= check[=] compress-program= debug files0-from= key= merge output= stable buffer-size= field-separator= temporary-directory= parallel= unique zero-terminated help version',
    },
    effects: ({ options, name }) => [
      ...options.values('compress-program').map((program) => ({ does: 'start', argv: [program] }) as const),
      ...options.given
        .filter((option) => option.name === 'o' || option.name === 'output')
        .flatMap((option) => [
          { does: 'refuse', at: option.at, rule: 'writes', reason: `${name} -o writes a file` } as const,
          ...(option.value ? [write(option.value)] : []),
        ]),
    ],
    runs: [
      ['sort --compress-program=touch x', 'touch'],
      ['sort --comp touch x', 'touch'],
      'sort -o out in',
      'sort -ro out in',
      'sort --out=x y',
    ],
    harmless: ['sort -k2,2n -t, x', 'sort -u', 'sort -n -r file'],
  },
  {
    names: ['uniq'],
    closed: [],
    options: {
      short: 'cdDf:is:uw:z',
      long: 'count repeated all-repeated[=] skip-fields= group[=] ignore-case skip-chars= unique zero-terminated check-chars= help version',
    },
    effects: ({ options, name }) => {
      const target = options.operands[1];
      return target === undefined || target.text === '-'
        ? []
        : [
            { does: 'refuse', at: target, rule: 'writes', reason: `${name} writes its second file` },
            write(target),
          ];
    },
    runs: ['uniq in out'],
    harmless: ['uniq -c', 'uniq in', 'uniq -f 1 in'],
  },
];

function write(path: Arg): Effect {
  return { does: 'write', path };
}

/** `tee` copies its input to its files. */
function writtenInput({ name, options, stdin }: ProgramCall): Effect[] {
  const copies = name === 'tee' && stdin !== 'none' && stdin.text !== '' && !options.has('a', 'append');
  const contents = copies ? { text: stdin.text, more: true } : undefined;
  return options.operands.map((path) => ({ does: 'write', path, ...(contents && { contents }) }));
}

function copyEffects({ options, args, name }: ProgramCall): Effect[] {
  const strip = options.given.find((option) => option.name === 'strip-program');
  const refused: Effect[] =
    strip === undefined || name !== 'install'
      ? []
      : [{ does: 'refuse', at: strip.at, reason: 'install --strip-program runs a program' }];
  const directory = options.last('t', 'target-directory');
  const target = directory ?? (options.operands.length > 1 ? options.operands.at(-1) : undefined);
  if (target === undefined) return refused;
  const inside = options.operands
    .flatMap((source) => source.text ?? [])
    .map((source) => source.slice(source.lastIndexOf('/') + 1));
  const deep = inside.map(
    (file): Arg => ({
      ...target,
      pieces: [...target.pieces, '/', file],
      text: target.text === undefined ? undefined : `${target.text}/${file}`,
    }),
  );
  const linked =
    name === 'ln'
      ? options.operands.slice(0, directory === undefined ? -1 : undefined).flatMap(throughLink)
      : [];
  return args.length === 0 ? [] : [...refused, write(target), ...deep.map(write), ...linked];
}

/** A link lets later commands write its target under another name, so the target counts as written. */
function throughLink(source: Arg): Effect[] {
  if (source.text === undefined) return [write(source)];
  const text = source.text.replace(/\/$/, '');
  return [text, `${text}/.bashrc`, `${text}/etc/file`].map((path) =>
    write({ ...source, text: path, pieces: [path] }),
  );
}

/** Refuses to create a directory whose name other programs would misread. */
export function refuseName(at: Arg): Effect {
  const reason = `it would create ${at.text ?? 'a folder'}, a name that other programs may read as an option`;
  return { does: 'refuse', at, rule: 'file_name', reason };
}
