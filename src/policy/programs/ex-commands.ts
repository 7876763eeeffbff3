// Vim's command lines (`-c`, `+…`, ex scripts): accepts the commands that only edit, search, set display options and write
// files, in the form that is modelled here; everything else may run code and is refused.

/** An effect of a vim command line: shell text, a file that it writes, or a command that may run code. */
export interface ExAction {
  readonly kind: 'run' | 'write' | 'refuse';
  readonly text: string;
}

/** Returns the effects of a vim command line, including commands after `|`. */
export function exActions(line: string): ExAction[] {
  return actionsOf(line, 0);
}

/** `g/a/` and `silent` in each other copy the rest of the line, so their nesting is limited. */
const maxNesting = 16;

function actionsOf(line: string, nesting: number): ExAction[] {
  if (nesting > maxNesting) return [refuse(line.slice(0, 80))];
  const next = (inner: string): ExAction[] => actionsOf(inner, nesting + 1);
  const text = line.replace(/^[\s:]+/, '');
  if (/[`\0\r\x1b]|<C-|<CR>/i.test(text)) return [refuse(text)];
  const after = text.slice(rangeLength(text)).replace(/^\s+/, '');
  if (after.startsWith('!')) return [runs(after.slice(1))];
  const [, name = '', bang = '', rest = ''] = /^([a-zA-Z]+|[=<>&]+|)(!?)(.*)$/s.exec(after) ?? [];
  if (/^(?:g|gl|glo|glob|globa|global|v|vg|vgl|vglo|vglob|vgloba|vglobal)$/.test(name))
    return global(rest, next);
  if (/^s$|^su(?:b(?:s(?:t(?:i(?:t(?:u(?:t(?:e)?)?)?)?)?)?)?)?$/.test(name))
    return substitute(rest, text, next);
  const [own, ...others] = rest.split(/(?<!\\)\|/);
  return [...command(name, bang, (own ?? '').trim(), text, next), ...others.flatMap(next)];
}

function refuse(text: string): ExAction {
  return { kind: 'refuse', text };
}

function runs(text: string): ExAction {
  return { kind: 'run', text };
}

/** The length of a line range: numbers, marks and patterns, with offsets, separated by commas. */
function rangeLength(text: string): number {
  let at = 0;
  while (at < text.length) {
    const character = text.charAt(at);
    if (character === '/' || character === '?') at = endOfPattern(text, at + 1, character);
    else if (character === "'") at += 2;
    else if (/[\d.$%,;+\s*-]/.test(character)) at++;
    else break;
  }
  return at;
}

function endOfPattern(text: string, from: number, delimiter: string): number {
  let at = from;
  while (at < text.length && text.charAt(at) !== delimiter) at += text.charAt(at) === '\\' ? 2 : 1;
  return Math.min(at + 1, text.length);
}

type Next = (inner: string) => ExAction[];

function global(rest: string, next: Next): ExAction[] {
  const text = rest.trimStart();
  const delimiter = text.charAt(0);
  if (!/^[^\w\s"|\\]$/.test(delimiter)) return [refuse(`g${rest}`)];
  const inner = text.slice(endOfPattern(text, 1, delimiter));
  return inner.trim() === '' ? [] : next(inner);
}

/** `s/pattern/text/flags`; a text that begins with `\=` is an expression. */
function substitute(rest: string, line: string, next: Next): ExAction[] {
  const delimiter = rest.charAt(0);
  if (rest.trim() === '') return [];
  if (!/^[^\w\s"|\\]$/.test(delimiter)) return [refuse(line)];
  const middle = endOfPattern(rest, 1, delimiter);
  const end = endOfPattern(rest, middle, delimiter);
  if (rest.slice(middle, end).includes('\\=')) return [refuse(line)];
  const [flags = '', ...others] = rest.slice(end).split('|');
  return /^[&cegiInp#lr\s\d]*$/.test(flags) ? others.flatMap(next) : [refuse(line)];
}

const editing =
  /^(?:|=|[<>]+|&+|d|de|del|dele|delet|delete|m|mo|mov|move|t|co|cop|copy|j|jo|joi|join|k|ma|mark|p|pr|pri|prin|print|P|nu|number|l|list|y|ya|yank|u|un|undo|red|redo|ret|retab|sor|sort|noh|nohlsearch|q|qu|qui|quit|qa|qal|qall|cq|cquit|le|left|ri|right|ce|center|bn|bnext|bp|bprevious|bd|bdelete|ls|files|buffers|N|prev|previous|fir|first|la|last|reg|registers|marks|ju|jumps|norm_|ve|ver|version|z|sil_|pw|pwd|on|only|clo|close|diffthis|diffoff|fo|fold|foldo|foldopen|foldc|foldclose|startinsert|star|stopinsert|dig|di|display|h|help|his|history)$/;
const writing =
  /^(?:w|wr|wri|writ|write|wq|x|xi|xit|exi|exit|wa|wal|wall|wqa|wqall|xa|xal|xall|up|update|sav|savea|saveas|wn|wN)$/;
const opening =
  /^(?:e|ed|edi|edit|ene|enew|sp|spl|split|vs|vsp|vsplit|tabe|tabedit|tabnew|vie|view|new|vne|vnew|b|bu|buffer|f|file|n|next|r|re|rea|read)$/;
const setting = /^(?:se|set|setl|setlocal|setg|setglobal)$/;
const options =
  /^(?:(?:no|inv)?(?:number|nu|relativenumber|rnu|wrap|list|paste|expandtab|et|autoindent|ai|smartindent|si|ignorecase|ic|smartcase|scs|hlsearch|hls|incsearch|is|cursorline|cul|ruler|ru|showcmd|sc|showmatch|sm|spell|swapfile|swf|backup|bk|writebackup|wb|undofile|udf|hidden|hid|compatible|cp|eol|fixeol|fixendofline|bomb|binary|bin|readonly|ro|modifiable|ma|lazyredraw|lz|more|confirm|cf|visualbell|vb|errorbells|eb|autoread|ar|autowrite|aw|gdefault|gd|magic|startofline|sol|ttyfast|linebreak|lbr|smarttab|sta|foldenable|fen|diff|scrollbind|modeline)[!&]?|(?:tabstop|ts|shiftwidth|sw|softtabstop|sts|textwidth|tw|scrolloff|so|history|hi|laststatus|ls|foldlevel|fdl|colorcolumn|cc|updatetime|ut|timeoutlen|tm|numberwidth|nuw|fileformat|ff|fileformats|ffs|fileencoding|fenc|encoding|enc|filetype|ft|syntax|syn|background|bg|backspace|bs|foldmethod|fdm|nrformats|nf|report|cmdheight|ch|undolevels|ul|virtualedit|ve|whichwrap|ww|viminfo|vi|t_Co|mouse|clipboard|cb|completeopt|cot|shortmess|shm|display|dy|matchpairs|mps|listchars|lcs|fillchars|fcs|iskeyword|isk|wildmenu|wmnu|wildmode|wim|pastetoggle|pt)(?:[+^-]?=[\w,:.$*<>-]*|[&?]))$/;

function command(name: string, bang: string, rest: string, line: string, next: Next): ExAction[] {
  // `bnext +so\ x` runs a command in the buffer.
  if (isOpening(name) && runsCommand.test(rest)) return [refuse(line)];
  if (editing.test(name)) return /[!=]/.test(rest) || (name === '' && rest !== '') ? [refuse(line)] : [];
  if (modifier.test(name)) return next(rest);
  if (name === 'pu' || name === 'put') return /[=]/.test(rest) ? [refuse(line)] : [];
  if (name === 'sy' || name === 'syntax') return /^(?:on|off|enable)$/.test(rest) ? [] : [refuse(line)];
  if (setting.test(name))
    return rest.split(/\s+/).every((word) => word === '' || options.test(word)) && !/modeline$/.test(rest)
      ? []
      : [refuse(line)];
  if (!writing.test(name) && !opening.test(name)) return [refuse(line)];
  const shell = /^(?:>>\s*)?!(.*)$/s.exec(rest)?.[1];
  if (shell !== undefined) return [runs(shell)];
  if (bang !== '' && /^r(?:e|ea|ead)?$/.test(name)) return [runs(rest)];
  // `%` and `#` stand for file names, and `=` for the value of an expression.
  if (/[=%#$*<]/.test(rest) && !/^[%#]$/.test(rest)) return [refuse(line)];
  const file = rest.replace(/^(?:\+\+\w+(?:=\w*)?\s+)?(?:>>\s*)?/, '').replace(/^\+\S*\s*/, '');
  // The plugin netrw starts a program to fetch an address.
  if (/^\w+:\/\//.test(file)) return [refuse(line)];
  if (file === '' || reading.test(name)) return [];
  return [{ kind: 'write', text: file }];
}

const modifier = /^(?:sil|silent|keepp|keeppatterns|conf|confi|confir|confirm)$/;
const reading = /^(?:r|re|rea|read|b|bu|buffer|vie|view)$/;

/** `+COMMAND` in `edit +COMMAND FILE`, unless it is a line number or a pattern. */
const runsCommand = /(?:^|\s)\+(?!\+|\d{0,9}(?:\s|$)|\/[\w ]{0,80}(?:\s|$))/;

function isOpening(name: string): boolean {
  return (
    opening.test(name) ||
    /^(?:b[npd]|b(?:next|previous|delete)|N|prev|previous|fir|first|la|last)$/.test(name)
  );
}
