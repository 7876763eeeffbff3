// Shows what runs, what ran and which applets there are; asks again every two seconds while somebody looks who may.
const at = (id) => document.getElementById(id);
const element = (name, text, className = '') => {
  const made = document.createElement(name);
  made.textContent = text;
  if (className !== '') made.className = className;
  return made;
};

function toCommand({ command, client, outcome, durationMs, startedAt }) {
  const item = document.createElement('li');
  const isBad = outcome !== null && outcome !== 'exit 0' && outcome !== 'ok';
  const time = new Date(startedAt).toLocaleTimeString();
  item.append(element('code', command), element('span', client, 'soft'), element('span', time, 'soft'));
  if (outcome !== null) item.append(element('span', `${outcome} · ${durationMs} ms`, isBad ? 'bad' : 'soft'));
  return item;
}

function toApplet({ slug, title, description, permissions, refused }, terminalShells) {
  const item = document.createElement('li');
  const link = element('a', title ?? slug);
  link.href = `/applets/${slug}/`;
  item.append(
    link,
    element('p', description ?? ''),
    element('p', permissions.join(', ') || 'runs nothing', 'soft'),
  );
  if (refused.length > 0) item.append(element('p', toReason(slug, refused, terminalShells), 'bad'));
  return item;
}

function toReason(slug, refused, terminalShells) {
  if (slug !== 'terminal') return `Not allowed by SHELL_ALLOWLIST: ${refused.join(', ')}.`;
  const now = terminalShells.length === 0 ? 'Off' : `Off for ${refused.join(', ')}`;
  return `${now}. Start with NACRE_TERMINAL_SHELLS=${refused.join(',')} to turn it on: whoever has this page can then do whatever you can, and what is typed is not judged.`;
}

function fill(id, items, whenEmpty) {
  at(id).replaceChildren(...(items.length > 0 ? items : [element('li', whenEmpty, 'soft')]));
}

let shown = '';
let isSignedIn = true;
function show(state) {
  at('content').hidden = false;
  at('sign-in').hidden = true;
  at('status').textContent = `version ${state.version}, ${state.running.length} running`;
  // What has not changed keeps the keyboard's focus.
  if (JSON.stringify(state) === shown) return;
  shown = JSON.stringify(state);
  fill('running', state.running.map(toCommand), 'Nothing.');
  fill('recent', state.recent.map(toCommand), 'Nothing yet.');
  fill(
    'applets',
    state.applets.map((applet) => toApplet(applet, state.terminal_shells)),
    'None. Name a folder of applets with --applets-dir.',
  );
  at('problems').replaceChildren(...state.problems.map((problem) => element('li', problem)));
}

async function look() {
  try {
    const answer = await fetch('/api/state');
    isSignedIn = answer.status !== 401;
    if (answer.ok) return show(await answer.json());
    at('content').hidden = true;
    at('sign-in').hidden = false;
    at('status').textContent =
      answer.status === 401 ? 'This browser is not signed in.' : 'The server refused.';
  } catch {
    at('status').textContent = 'The server does not answer.';
  }
}

await look();
// Who is not signed in would only be refused again and again.
setInterval(() => document.hidden || !isSignedIn || look(), 2_000);
document.addEventListener('visibilitychange', () => document.hidden || look());
