import type { ProgramCall } from '../options/program-call.ts';
import { type Arg, knownArg, prefixOf } from '../words/arg.ts';
import { allOf, refuseOptions } from './effects.ts';
import { refused, startOptions, stdinText, writeOptions } from './option-effects.ts';
import type { Effect, ProgramEntry } from './program.ts';

/** Tools for documents, images and audio, such as `pandoc` and `convert`, and the scripts that their inputs can name. */
export const documentPrograms: readonly ProgramEntry[] = [
  {
    names: [
      'convert',
      'magick',
      'mogrify',
      'identify',
      'composite',
      'montage',
      'gm',
      'display',
      'import',
      'stream',
    ],
    effects: pictureEffects,
    runs: [
      ["convert '|touch x' out.png", 'touch'],
      'convert msl:x.msl out.png',
      'convert a.png ~/.bashrc',
      'magick a.png ephemeral:x',
      'convert a.png -write /etc/x null:',
      'convert @list out.png',
      'convert "$x" msl:y',
      'gm batch x',
      ["convert 'png:|touch x' out.png", 'touch'],
    ],
    harmless: [
      'convert a.png -resize 50% b.png',
      'identify a.png',
      'magick a.jpg -quality 80 b.jpg',
      'convert -size 10x10 xc:red a.png',
      'mogrify -resize 100 *.png',
      'convert "$in" "$out"',
    ],
  },
  {
    names: ['ffmpeg', 'ffprobe', 'sox', 'play', 'rec', 'soxi', 'gs', 'ps2pdf', 'gnuplot'],
    effects: mediaEffects,
    runs: [
      'ffmpeg -i a ~/.bashrc',
      "gs -sOutputFile='%pipe%touch x' a.ps",
      'gs -dNOSAFER a.ps',
      'gnuplot -e \'system("touch x")\'',
      "gnuplot <<< '!touch x'",
      "gs -o '|touch x' a.ps",
      "sox '|touch x' b.wav",
      'gnuplot -e \'set output "|touch x"\'',
      "gs -c '(%pipe%x) (w) file'",
    ],
    harmless: [
      'ffmpeg -i a.mp4 -c copy b.mkv',
      'ffprobe -v error a.mp4',
      'gs -sDEVICE=pdfwrite -o out.pdf a.ps',
      'gnuplot plot.gp',
      "gnuplot -e 'plot sin(x)'",
      'sox a.wav b.mp3',
      'ffmpeg -y -i "$in" "$out"',
    ],
  },
  {
    names: ['pandoc'],
    options: {
      short: 'f:t:o:F:L:H:B:A:s:T:V:M:d:c:N',
      long: 'from= to= output= filter= lua-filter= pdf-engine= pdf-engine-opt= defaults= template= include-in-header= metadata= variable= extract-media= log= data-dir= standalone toc css= highlight-style= syntax-definition= reference-doc= wrap= columns= version help',
    },
    effects: allOf(
      startOptions('F', 'filter', 'pdf-engine'),
      writeOptions('o', 'output', 'log'),
      refuseOptions({
        'lua-filter': 'runs code',
        L: 'runs code',
        defaults: 'reads settings from a file',
        d: 'reads settings from a file',
        'data-dir': 'reads code from a folder',
      }),
      ({ options, name }) =>
        options
          .values('t', 'to', 'f', 'from')
          .filter(({ text }) => text?.endsWith('.lua'))
          .map((at): Effect => ({ does: 'refuse', at, reason: `${name} would run code` })),
    ),
    runs: [
      ['pandoc --filter touch a.md', 'touch'],
      ['pandoc -F touch a.md', 'touch'],
      'pandoc --lua-filter=x.lua a.md',
      ['pandoc --pdf-engine=touch a.md -o a.pdf', 'touch'],
      'pandoc a.md -o ~/.bashrc',
      'pandoc -t x.lua a.md',
    ],
    harmless: [
      'pandoc a.md -o a.html',
      'pandoc -f markdown -t html a.md',
      ['pandoc a.md --pdf-engine=xelatex -o a.pdf', 'xelatex'],
    ],
  },
  {
    names: [
      'tex',
      'latex',
      'pdftex',
      'pdflatex',
      'xelatex',
      'xetex',
      'lualatex',
      'luatex',
      'latexmk',
      'context',
      'tectonic',
      'bibtex',
    ],
    effects: ({ args, name }) =>
      args
        .filter(
          (arg) =>
            /^--?(?:shell-escape|enable-write18|shell-restricted-off|e$|r$|pdflatex=|latex=|lualatex=|xelatex=|usepretex|pretex|cnf-line|output-format-script|Z$)/.test(
              arg.text ?? '',
            ) || /\\(?:immediate|write18|input\s*\|?\||directlua|ShellEscape|openout)/.test(arg.text ?? ''),
        )
        .map((at) => ({ does: 'refuse', at, reason: `${name} would run programs` })),
    runs: [
      'pdflatex -shell-escape a.tex',
      'pdflatex --shell-escape a.tex',
      "pdflatex '\\immediate\\write18{touch x}'",
      'latexmk -e \'system("touch x")\'',
      "latexmk -pdflatex='touch x' a",
      "lualatex '\\directlua{os.execute()}'",
    ],
    harmless: ['pdflatex a.tex', 'latexmk -pdf a.tex', 'xelatex -interaction=nonstopmode a.tex', 'bibtex a'],
  },
  {
    names: ['exiftool', 'jpegoptim', 'mutool', 'qpdf'],
    effects: ({ args, name }) =>
      args
        .filter(
          (arg, index) =>
            /^-config$/.test(arg.text ?? '') ||
            (/^-(?:if\d*|p|d|userParam)$/.test(args[index - 1]?.text ?? '') &&
              /\b(?:system|exec|qx|eval|open|require|do)\b|`|\$\{[^${};]*;/.test(arg.text ?? '')) ||
            (name === 'mutool' && arg.text === 'run') ||
            /^-(?:@|stay_open)$/.test(arg.text ?? '') ||
            (name === 'exiftool' && /<\$?\{[^<{};]*;/.test(arg.text ?? '')),
        )
        .map((at) => ({ does: 'refuse', at, reason: `${name} would run code` })),
    runs: [
      'exiftool -if \'system("touch x")\' a.jpg',
      'exiftool -config ./x a.jpg',
      `exiftool -p '\${filename;system(1)}' a.jpg`,
    ],
    harmless: [
      'exiftool a.jpg',
      "exiftool -if '$width > 100' a.jpg",
      'exiftool -DateTimeOriginal a.jpg',
      'qpdf --check a.pdf',
    ],
  },
];

/** ImageMagick executes a file name that starts with `|` as a command; formats such as `msl:` are scripts. */
function pictureEffects(call: ProgramCall): Effect[] {
  const { args } = call;
  const words = args.flatMap((arg): Effect[] => {
    const text = prefixOf(arg);
    const command = /^(?:[a-z0-9]+:)?\|(.*)$/is.exec(arg.text ?? '')?.[1];
    if (command !== undefined) return [{ does: 'shell', text: knownArg(command, arg) }];
    return /^(?:msl|ephemeral|mvg|vid|browse|edit|launch|print|scan|win|x11-script):/i.test(text) ||
      (/^@/.test(text) && text.length > 1) ||
      /^-(?:process|run|script)$/.test(text)
      ? [refused(call, 'would run a script or start a program', arg)]
      : [];
  });
  const written = [
    args.length > 1 && call.name !== 'identify' && call.name !== 'mogrify' ? args.at(-1) : undefined,
    args[args.findIndex((arg) => arg.text === '-write') + 1],
  ].flatMap((arg, index) =>
    arg === undefined || (index === 1 && !args.some(({ text }) => text === '-write')) ? [] : [arg],
  );
  const batch = call.name === 'gm' && args[0]?.text === 'batch';
  return [
    ...words,
    ...written.map((path): Effect => ({ does: 'write', path })),
    ...(batch ? [refused(call, 'would run a script')] : []),
  ];
}

function mediaEffects(call: ProgramCall): Effect[] {
  const { args, name } = call;
  const runs: Readonly<Record<string, RegExp>> = {
    gs: /%pipe%|^-dNOSAFER$|^-c$|^-dDELAYSAFER$|^@|^-o?\||^-sOutputFile=\|/,
    ps2pdf: /%pipe%|^-dNOSAFER$/,
    sox: /^\|/,
    play: /^\|/,
    rec: /^\|/,
    soxi: /^\|/,
    gnuplot: /\bsystem\b|`|(?:^|;)\s*(?:!|load|call|sh\b|shell\b)|["']\s*[|<]/,
  };
  const pattern = runs[name];
  const bad =
    pattern === undefined
      ? []
      : args.filter(
          (arg, index) =>
            pattern.test(arg.text ?? '') ||
            (name === 'gs' && args[index - 1]?.text === '-o' && prefixOf(arg).startsWith('|')),
        );
  const typed =
    name === 'gnuplot' &&
    stdinText(call)
      .split('\n')
      .some((line) => runs.gnuplot?.test(line));
  const last = args.at(-1);
  const target: Arg | undefined =
    name === 'ffmpeg' || name === 'sox' || name === 'rec'
      ? last
      : name === 'gs'
        ? args[args.findIndex((arg) => arg.text === '-o') + 1]
        : undefined;
  return [
    ...bad.map((at) => refused(call, 'would start a program', at)),
    ...(typed ? [refused(call, 'would start a program')] : []),
    ...(target === undefined ? [] : [{ does: 'write', path: target } as const]),
  ];
}
