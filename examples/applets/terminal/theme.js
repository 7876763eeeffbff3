/** Colours of the terminal for each colour scheme of the system. */
export const themes = {
  dark: { background: '#101413', foreground: '#e4eae7', cursor: '#e4eae7', selectionBackground: '#3a4b45' },
  light: {
    background: '#fbfcfb',
    foreground: '#1c2321',
    cursor: '#1c2321',
    cursorAccent: '#fbfcfb',
    selectionBackground: '#bfd8cf',
    black: '#1c2321',
    red: '#a8322a',
    green: '#0b6e55',
    yellow: '#7a5a00',
    blue: '#1f4fa3',
    magenta: '#86307f',
    cyan: '#0b6470',
    white: '#5c6663',
    brightBlack: '#4a5350',
    brightRed: '#c0392b',
    brightGreen: '#11805f',
    brightYellow: '#8a6700',
    brightBlue: '#2a63c8',
    brightMagenta: '#a13d98',
    brightCyan: '#0e7785',
    brightWhite: '#1c2321',
  },
};

/** Applies the theme of the system's colour scheme, now and whenever it changes. */
export function followColorScheme(terminal) {
  const light = matchMedia('(prefers-color-scheme: light)');
  const apply = () => {
    terminal.options.theme = light.matches ? themes.light : themes.dark;
  };
  light.addEventListener('change', apply);
  apply();
}
