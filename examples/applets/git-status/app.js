// Shows status, diff and log of a repository; `applet.json` allows this page to run git only.
import { parseStatus } from './parse-status.js';

const at = (id) => document.getElementById(id);

async function git(...args) {
  const cwd = at('cwd').value.trim();
  const response = await fetch('/api/shell', {
    method: 'POST',
    headers: { 'Content-Type': 'application/json' },
    body: JSON.stringify({ command: 'git', args, ...(cwd !== '' && { cwd }) }),
  });
  const { stdout, stderr, code, error } = await response.json();
  if (!response.ok) throw new Error(error);
  if (code !== 0) throw new Error(stderr || `git ${args[0]} failed`);
  return stdout;
}

async function refresh() {
  at('refresh').disabled = true;
  try {
    const { branch, files } = parseStatus(await git('status', '--porcelain=v2', '--branch', '-z'));
    showBranch(branch, files);
    showFiles(files);
    await showDiff();
    await showLog();
  } catch (error) {
    at('branch').textContent = error.message;
    for (const id of ['files', 'diff', 'log']) at(id).replaceChildren();
  } finally {
    at('refresh').disabled = false;
  }
}

function showBranch({ name, ahead, behind }, files) {
  const divergence = ahead + behind === 0 ? '' : `, ${ahead} ahead, ${behind} behind`;
  const changes = files.length === 1 ? '1 change' : `${files.length} changes`;
  at('branch').textContent = `On ${name}${divergence}: ${files.length === 0 ? 'no changes' : changes}.`;
}

function showFiles(files) {
  const items = files.map(({ state, path, from }) => {
    const item = document.createElement('li');
    const button = document.createElement('button');
    button.type = 'button';
    button.textContent = `${state} ${from === undefined ? path : `${from} → ${path}`}`;
    button.addEventListener('click', () => showDiff(path));
    item.append(button);
    return item;
  });
  at('files').replaceChildren(...items);
}

async function showDiff(path) {
  const only = path === undefined ? [] : ['--', path];
  const text = await git('diff', 'HEAD', ...only).catch(() => git('diff', ...only));
  const lines = text.split('\n').map((line) => {
    const span = document.createElement('span');
    span.className = line.startsWith('+') ? 'added' : line.startsWith('-') ? 'removed' : '';
    span.textContent = `${line}\n`;
    return span;
  });
  at('diff').replaceChildren(...lines);
}

async function showLog() {
  const text = await git('log', '-n', '20', '--format=%h%x09%ad%x09%an%x09%s', '--date=short').catch(
    () => '',
  );
  const items = text
    .split('\n')
    .filter(Boolean)
    .map((line) => {
      const item = document.createElement('li');
      item.textContent = line.split('\t').join('  ');
      return item;
    });
  at('log').replaceChildren(...items);
}

at('refresh').addEventListener('click', refresh);
at('cwd').addEventListener('change', refresh);
await refresh();
