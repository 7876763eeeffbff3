/** Parses the output of `git status --porcelain=v2 --branch -z`. */
export function parseStatus(text) {
  const branch = { name: '(unknown)', ahead: 0, behind: 0 };
  const files = [];
  const fields = text.split('\0');
  for (let index = 0; index < fields.length; index += 1) {
    const words = fields[index].split(' ');
    if (words[0] === '#') readBranch(branch, words);
    if (words[0] === '1') files.push({ state: words[1], path: words.slice(8).join(' ') });
    if (words[0] === 'u') files.push({ state: words[1], path: words.slice(10).join(' ') });
    if (words[0] === '?') files.push({ state: '??', path: words.slice(1).join(' ') });
    if (words[0] === '2') {
      index += 1;
      files.push({ state: words[1], path: words.slice(9).join(' '), from: fields[index] });
    }
  }
  return { branch, files };
}

function readBranch(branch, [, key, ...values]) {
  if (key === 'branch.head') branch.name = values.join(' ');
  if (key === 'branch.ab') {
    branch.ahead = Number(values[0]);
    branch.behind = -Number(values[1]);
  }
}
