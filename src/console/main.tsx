// The console, a web page for people who run agents. 1. `store.ts` connects to the server through the worker, 2.
// `frame/frame.tsx` renders the frame and the page for the address.
import { effect } from '@preact/signals';
import { render } from 'preact';
import { applyTheme } from './choices.ts';
import './console.css';
import { Frame } from './frame/frame.tsx';
import { listenForKeys } from './keys.ts';
import { startNotifications } from './notifications.ts';
import { followLinks } from './router.ts';
import { startStore } from './store.ts';

// Before anything is rendered with the colours of the theme.
effect(applyTheme);
followLinks();
listenForKeys();
startNotifications();
void startStore();
const root = document.getElementById('root');
if (root) render(<Frame />, root);
