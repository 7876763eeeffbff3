// Finds the error messages in the sources: the arguments of every `new NacreError(…)` and `new HttpProblem(…)`, which may be
// literals, constants of the file, or parameters of the enclosing function, taken from its calls.

/** One message as written in the code, with placeholders in braces. */
export interface Sentence {
  readonly file: string;
  /** The code of a `NacreError` or the status of an `HttpProblem`. */
  readonly kind: string;
  readonly message: string;
  readonly hint: string;
}

/** Every message with which these files create an instance of the class `made`. */
export function listSentences(files: ReadonlyMap<string, string>, made: string): Sentence[] {
  return [...files].flatMap(([file, source]) =>
    placesOf(source, `new ${made}(`).flatMap((place) => readPlace(files, file, place)),
  );
}

function readPlace(files: ReadonlyMap<string, string>, file: string, place: number): Sentence[] {
  const source = files.get(file) ?? '';
  const [kind = '', message = '', options = ''] = splitArguments(source, place);
  const hint = hintOf(options);
  const around = functionAround(source, place);
  const calls = around?.parameters.some(({ name }) => [kind, message, hint].includes(name))
    ? callsOf(around, around.isExported ? [...files.values()] : [source])
    : [];
  return (calls.length === 0 ? [new Map<string, string>()] : calls).map((given) => {
    const say = (text: string) =>
      toWords(source.slice(around?.at ?? 0, place), source, given.get(text) ?? text);
    return { file, kind: say(kind), message: say(message), hint: say(hint) };
  });
}

/** The arguments of each call of a function, by parameter name. */
function callsOf({ name, parameters }: Around, sources: readonly string[]): Map<string, string>[] {
  return sources.flatMap((source) =>
    placesOf(source, `${name}(`)
      .filter((call) => !source.slice(0, call).endsWith(`function ${name}(`))
      .map((call) => splitArguments(source, call))
      .map((given) => new Map(parameters.map((one, at) => [one.name, given[at] ?? one.unset]))),
  );
}

function placesOf(source: string, text: string): number[] {
  const places: number[] = [];
  for (let at = source.indexOf(text); at !== -1; at = source.indexOf(text, at + 1))
    if (!/[\w.]/.test(source[at - 1] ?? '')) places.push(at + text.length);
  return places;
}

/** The arguments of a call, starting after its opening bracket. */
function splitArguments(source: string, from: number): string[] {
  const found: string[] = [];
  let [depth, start] = [0, from];
  for (const { text, at } of tokens(source, from)) {
    if (depth === 0 && (text === ',' || text === ')')) {
      found.push(source.slice(start, at).trim());
      start = at + 1;
      if (text === ')') return found.filter((one) => one !== '');
    }
    if ('([{'.includes(text)) depth += 1;
    if (')]}'.includes(text)) depth -= 1;
  }
  return found;
}

const quoted = /'(?:\\.|[^'\\\n])*'|"(?:\\.|[^"\\\n])*"/;
const template = /`(?:\\[\s\S]|\$\{(?:[^{}`]|`[^`]*`|\{[^{}]*\})*\}|[^`\\])*`/;
const literal = new RegExp(`${quoted.source}|${template.source}`, 'g');
const token = new RegExp(`${literal.source}|[\\s\\S]`, 'g');

function* tokens(source: string, from: number): Generator<{ readonly text: string; readonly at: number }> {
  const own = new RegExp(token);
  own.lastIndex = from;
  for (let found = own.exec(source); found; found = own.exec(source))
    yield { text: found[0], at: found.index };
}

function hintOf(options: string): string {
  if (/[{,]\s*hint\s*[,}]/.test(options)) return 'hint';
  const at = options.search(/\bhint:/);
  return at === -1 ? '' : (splitArguments(`${options.slice(at + 5).replace(/\}\s*$/, '')})`, 0)[0] ?? '');
}

interface Around {
  readonly name: string;
  readonly at: number;
  readonly isExported: boolean;
  readonly parameters: readonly { readonly name: string; readonly unset: string }[];
}

function functionAround(source: string, place: number): Around | undefined {
  const head = [...source.slice(0, place).matchAll(/^(export )?function (\w+)\(/gm)].at(-1);
  if (head?.[2] === undefined) return undefined;
  const parameters = splitArguments(source, head.index + head[0].length).map((one) => ({
    name: one.split(/[?:= ]/)[0] ?? '',
    unset: one.split(' = ')[1] ?? 'undefined',
  }));
  return { name: head[2], at: head.index, isExported: head[1] !== undefined, parameters };
}

/** The text of the literals in an expression, or the expression itself in braces if it has none. */
function toWords(nearby: string, source: string, expression: string): string {
  const text = constantNamed(nearby, source, expression) ?? expression;
  const literals = [...text.matchAll(literal)].map(([one]) => toText(one));
  const said = literals.filter((one) => /\w{2}/.test(one));
  if (said.length > 0) return said.join(' · ');
  return text === '' || /^\d+$/.test(text) ? text : `{${text.replaceAll(/\s+/g, ' ')}}`;
}

function constantNamed(nearby: string, source: string, name: string): string | undefined {
  if (!/^\w+$/.test(name)) return undefined;
  const inside = new RegExp(`^  +const ${name} =\\s*`, 'm').exec(nearby);
  const text = inside ? nearby : source;
  const found = inside ?? new RegExp(`^const ${name} =\\s*`, 'm').exec(source);
  if (!found) return undefined;
  const from = found.index + found[0].length;
  for (const { text: mark, at } of tokens(text, from)) if (mark === ';') return text.slice(from, at);
  return undefined;
}

// A `${placeholder}` of a template is shown as its code in braces.
function toText(one: string): string {
  const inside = one.slice(1, -1);
  if (!one.startsWith('`')) return inside.replaceAll(/\\(.)/g, '$1');
  const filled = /\$\{((?:[^{}`]|`[^`]*`|\{[^{}]*\})*)\}/g;
  return inside
    .replaceAll(filled, (_, code: string) => `{${code.replaceAll(/\s+/g, ' ')}}`)
    .replaceAll('\\n', ' ');
}
