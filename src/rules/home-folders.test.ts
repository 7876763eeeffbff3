import { isAbsolute } from 'node:path';
import { describe, expect, it } from 'vitest';
import { configHomeOf, homeOf, stateHomeOf } from './home-folders.ts';

describe("the user's folders", () => {
  it('follow HOME and XDG variables', () => {
    expect(homeOf({ HOME: '/home/me' })).toBe('/home/me');
    expect(configHomeOf({ HOME: '/home/me' })).toBe('/home/me/.config');
    expect(stateHomeOf({ HOME: '/home/me' })).toBe('/home/me/.local/state');
    expect(configHomeOf({ HOME: '/home/me', XDG_CONFIG_HOME: '/x' })).toBe('/x');
    expect(stateHomeOf({ HOME: '/home/me', XDG_STATE_HOME: '/x' })).toBe('/x');
  });

  it('are below / for a user id without an account', () => {
    const unknown = () => {
      throw new Error('ENOENT');
    };
    expect(homeOf({}, [unknown, () => ''])).toBe('/');
    expect(homeOf({ HOME: '' }, [() => '', () => '/home/me'])).toBe('/home/me');
  });

  it.each([{}, { HOME: '' }, { HOME: 'rel' }, { HOME: './x', XDG_CONFIG_HOME: 'conf', XDG_STATE_HOME: '.' }])(
    'are never inside the project: %j',
    (env) => {
      for (const folder of [homeOf(env), configHomeOf(env), stateHomeOf(env)])
        expect(isAbsolute(folder)).toBe(true);
      expect(configHomeOf(env)).toBe(`${homeOf(env)}/.config`.replace('//', '/'));
    },
  );
});
