const literal =
  /#[^\n]*|([A-Za-z]{0,3})("""[\s\S]*?"""|'''[\s\S]*?'''|"(?:[^"\\\n]|\\[\s\S])*"|'(?:[^'\\\n]|\\[\s\S])*')/g;

/**
 * Python code without its comments and strings, with the expressions of its f-strings, and with one blank for each gap: the
 * patterns of the interpreter search this text. Python normalises names (NFKC) and treats a carriage return as a newline.
 */
export function plainPython(code: string): string {
  return code
    .replace(/\r\n?/g, '\n')
    .replace(literal, (_, prefix: string | undefined, string: string | undefined) => {
      if (string === undefined) return '';
      return `${prefix}""${/[fFtT]/.test(prefix ?? '') ? expressionsOf(string) : ''}`;
    })
    .normalize('NFKC')
    .replace(/\\\n/g, ' ')
    .replace(/\s+/g, (gap) => (gap.includes('\n') ? '\n' : ' '));
}

function expressionsOf(string: string): string {
  const text = string.replaceAll('{{', '').replaceAll('}}', '');
  const [from, to] = [text.indexOf('{'), text.lastIndexOf('}')];
  return from < 0 ? '' : ` ${text.slice(from, to < from ? undefined : to + 1)} `;
}
