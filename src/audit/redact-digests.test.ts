import { Buffer } from 'node:buffer';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { cpuMsOf } from '../../tests/support/cpu-time.ts';
import { longestSecret, mostSecrets, type SecretDigests } from '../contract/secret-digests.ts';
import { toSecretDigests } from '../support/secret-digests.ts';
import { createDigestMask, createDigestRedact, createRedactFor } from './redact-digests.ts';

const bytesOf = (text: string) => Buffer.from(text).toString('latin1');
const maskOf = (...values: readonly string[]) => createDigestMask(toSecretDigests(values));
const redactOf = (...values: readonly string[]) => createDigestRedact(toSecretDigests(values));

describe('S6: secrets that are known by their digests', () => {
  test('are hidden in text and masked in output, and other text is not', () => {
    const values = ['hunter2-value', 'two words', 'schlüssel', 'short'];
    expect(redactOf(...values)('ü hunter2-value,two words schlüssel short hunter2-valu')).toBe(
      'ü [redacted],[redacted] [redacted] short hunter2-valu',
    );
    expect(maskOf(...values).hide(bytesOf('ü hunter2-value.schlüssel'))).toBe(
      bytesOf(`ü ${'*'.repeat(13)}.${'*'.repeat(10)}`),
    );
  });

  test('are not in what is sent', () => {
    const sent = JSON.stringify(toSecretDigests(['hunter2-value', 'two words']));
    for (const part of ['hunter2', 'value', 'two', 'words']) expect(sent).not.toContain(part);
  });

  test('have the positions that a search for their values finds', () => {
    const letters = fc.string({ unit: fc.constantFrom('a', 'b', ' ', 'ü'), minLength: 3, maxLength: 12 });
    fc.assert(
      fc.property(
        fc.array(letters, { maxLength: 4 }),
        fc.array(letters, { maxLength: 20 }),
        (values, parts) => {
          const text = bytesOf([...values, ...parts, ...values].join(''));
          const secrets = values.map(bytesOf).filter((value) => value.length >= 6);
          const isHidden = Array.from(text, () => false);
          for (const secret of secrets)
            for (let at = text.indexOf(secret); at >= 0; at = text.indexOf(secret, at + 1))
              isHidden.fill(true, at, at + secret.length);
          const expected = Array.from(text, (one, at) => (isHidden[at] ? '*' : one)).join('');
          expect(maskOf(...values).hide(text)).toBe(expected);
        },
      ),
    );
  });

  test('are withheld as long as more output may complete them', () => {
    const mask = maskOf('two words here', 'hunter2-value');
    const openEnd = (text: string) => mask.openEnd(bytesOf(text));
    expect(openEnd('one two')).toBe(3);
    expect(openEnd('one two ')).toBe(4);
    expect(openEnd('one two words he')).toBe(12);
    expect(openEnd('name? ')).toBe(0);
    expect(openEnd('x'.repeat(100))).toBe(13);
  });

  test('are hidden in pieces if they are long', () => {
    const key = Array.from({ length: 900 }, (_, at) => `line ${at}`).join('\n');
    const digests = toSecretDigests([key]);
    expect(Math.max(...digests.secrets.map(({ bytes }) => bytes))).toBe(longestSecret);
    expect(createDigestRedact(digests)(`<${key}>`)).toBe('<[redacted][redacted]>');
  });

  test('take a limited time, even if another machine chose checksums that match everywhere', () => {
    const everywhere = { bytes: 4_096, first: 0, last: 0, digest: 'x', beginnings: [] };
    const hostile: SecretDigests = {
      key: 'x',
      secrets: Array.from({ length: mostSecrets }, () => everywhere),
    };
    const mask = createDigestMask(hostile);
    expect(cpuMsOf(() => mask.hide('\0'.repeat(262_144)))).toBeLessThan(5_000);
  });

  test('belong to one machine', () => {
    const digests = toSecretDigests(['hunter2-value']);
    const redactFor = createRedactFor((machine) => (machine === 'h1' ? digests : undefined));
    expect(redactFor('h1')?.('hunter2-value')).toBe('[redacted]');
    expect(redactFor('h2')).toBeUndefined();
  });
});
