// A bash in a terminal over the WebSocket stream; after a lost connection it resumes at `cursor`.
import { followColorScheme } from './theme.js';
import { createToolbar } from './toolbar.js';

const showStatus = (text) => {
  document.getElementById('status').textContent = text;
};
const container = document.getElementById('terminal');
// Programs choose colours for a dark terminal; `minimumContrastRatio` keeps them readable on a light one.
const terminal = new globalThis.Terminal({ cursorBlink: true, minimumContrastRatio: 4.5 });
const id = `terminal-${crypto.randomUUID()}`;
const retryMs = 1_000;
let cursor = 0;
let socket;
let started = false;
let ended = false;

followColorScheme(terminal);
terminal.open(container);
fitTerminal();
terminal.focus();
const applyModifiers = createToolbar(document.getElementById('keys'), terminal);
terminal.onData((data) => send({ type: 'shell.stdin', id, data: applyModifiers(data) }));
terminal.onResize(({ cols, rows }) => send({ type: 'shell.resize', id, cols, rows }));
new ResizeObserver(fitTerminal).observe(container);
// Some browsers draw the on-screen keyboard over the page; the visual viewport is the part that stays visible.
globalThis.visualViewport?.addEventListener('resize', ({ target }) => {
  document.body.style.height = `${target.height}px`;
});
connect();

// Resizes the terminal to fill its container.
function fitTerminal() {
  const screen = container.querySelector('.xterm-screen');
  const [width, height] = [screen.clientWidth / terminal.cols, screen.clientHeight / terminal.rows];
  if (!(width > 0 && height > 0)) return;
  const cols = Math.max(20, Math.floor((container.clientWidth - 24) / width));
  const rows = Math.max(5, Math.floor((container.clientHeight - 8) / height));
  if (cols !== terminal.cols || rows !== terminal.rows) terminal.resize(cols, rows);
}

function connect() {
  socket = new WebSocket(`${location.origin.replace(/^http/, 'ws')}/api/shell/stream`);
  socket.addEventListener('open', () => {
    const { cols, rows } = terminal;
    const run = { type: 'shell.run', id, command: 'bash', args: ['-i'], pty: { cols, rows } };
    send(started ? { type: 'shell.resume', id, cursor } : run);
  });
  socket.addEventListener('message', ({ data }) => receive(JSON.parse(data)));
  socket.addEventListener('close', () => {
    if (ended) return;
    showStatus('Connection lost. Reconnecting… (You can also reopen the terminal from the console.)');
    setTimeout(connect, retryMs);
  });
}

function send(message) {
  if (socket?.readyState === WebSocket.OPEN && !ended) socket.send(JSON.stringify(message));
}

function receive(message) {
  if ('cursor' in message) cursor = message.cursor;
  if (message.type === 'shell.start') {
    started = true;
    showStatus('bash');
  }
  if (message.type === 'shell.stdout') terminal.write(message.data);
  if (message.type === 'shell.exit')
    finish(`The shell ended with code ${message.code}. Reload the page to start another.`);
  if (message.type === 'shell.error') finish(`${message.error} ${message.hint ?? ''}`);
}

function finish(text) {
  ended = true;
  showStatus(text);
  socket.close();
}
