// Shows running and finished commands and the applets; polls /api/state every two seconds while the page is visible.
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
    element('p', permissions.join(', ') || 'no permissions', 'soft'),
  );
  if (refused.length > 0) item.append(element('p', toReason(slug, refused, terminalShells), 'bad'));
  return item;
}

function toReason(slug, refused, terminalShells) {
  if (slug !== 'terminal') return `Not allowed by SHELL_ALLOWLIST: ${refused.join(', ')}.`;
  const now = terminalShells.length === 0 ? 'Off' : `Off for ${refused.join(', ')}`;
  return `${now}. Start the server with NACRE_TERMINAL_SHELLS=${refused.join(',')} to turn it on. This page can then do everything that you can, and no policy applies to what is typed.`;
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
  // Replacing unchanged elements would lose the keyboard focus.
  if (JSON.stringify(state) === shown) return;
  shown = JSON.stringify(state);
  fill('running', state.running.map(toCommand), 'No commands are running.');
  fill('recent', state.recent.map(toCommand), 'No commands yet.');
  fill(
    'applets',
    state.applets.map((applet) => toApplet(applet, state.terminal_shells)),
    'No applets. Set their folder with --applets-dir.',
  );
  at('problems').replaceChildren(...state.problems.map((problem) => element('li', problem)));
}

async function poll() {
  try {
    const reply = await fetch('/api/state');
    isSignedIn = reply.status !== 401;
    if (reply.ok) return show(await reply.json());
    at('content').hidden = true;
    at('sign-in').hidden = false;
    at('status').textContent =
      reply.status === 401 ? 'This browser is not signed in.' : 'The server refused the request.';
  } catch {
    at('status').textContent = 'The server does not respond.';
  }
}

await poll();
// Without a session every poll would be refused.
setInterval(() => document.hidden || !isSignedIn || poll(), 2_000);
document.addEventListener('visibilitychange', () => document.hidden || poll());
