import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { temporaryFolder } from '../../../tests/support/temporary-folder.ts';
import { readCluster } from './kubeconfig.ts';

const base64 = (text: string) => Buffer.from(text).toString('base64');
const usual = `
current-context: one
contexts:
- { name: one, context: { cluster: c, user: u } }
- { name: two, context: { cluster: c, user: files, namespace: agents } }
- { name: old, context: { cluster: c, user: old } }
- { name: proxied, context: { cluster: proxied, user: u } }
- { name: gone, context: { cluster: nowhere, user: u } }
clusters:
- { name: c, cluster: { server: 'https://10.0.0.1:6443', certificate-authority-data: ${base64('CA')} } }
- { name: proxied, cluster: { server: 'https://10.0.0.1', proxy-url: 'http://proxy' } }
users:
- { name: u, user: { client-certificate-data: ${base64('CERT')}, client-key-data: ${base64('KEY')} } }
- { name: files, user: { tokenFile: token } }
- { name: old, user: { auth-provider: { name: gcp } } }
`;

const read = (choice = {}, text = usual) => {
  const folder = temporaryFolder();
  writeFileSync(join(folder, 'config'), text);
  writeFileSync(join(folder, 'token'), 'from-file\n');
  return readCluster('lab', { kubeconfig: join(folder, 'config'), ...choice }, {});
};

test('the current context and another one are read, with data and files', () => {
  const one = read();
  expect(one).toMatchObject({
    namespace: 'default',
    tls: { ca: 'CA', cert: 'CERT', key: 'KEY', rejectUnauthorized: true },
  });
  expect(one.server.href).toBe('https://10.0.0.1:6443/');
  expect(read({ context: 'two' })).toMatchObject({ namespace: 'agents', token: 'from-file' });
  expect(read({ context: 'two', namespace: 'mine' }).namespace).toBe('mine');
});

test('several files are read as one, and the first entry counts', () => {
  const folder = temporaryFolder();
  writeFileSync(join(folder, 'a'), 'current-context: two\n');
  writeFileSync(join(folder, 'b'), usual);
  writeFileSync(join(folder, 'token'), 'from-file');
  const KUBECONFIG = `${folder}/a:${folder}/missing:${folder}/b`;
  expect(readCluster('lab', {}, { KUBECONFIG })).toMatchObject({ namespace: 'agents' });
});

test.each([
  [{ context: 'no' }, 'there is no context "no"'],
  [{ context: 'gone' }, 'there is no cluster "nowhere"'],
  [{ context: 'old' }, 'auth-provider, which is not supported'],
  [{ context: 'proxied' }, 'proxy-url, which is not supported'],
])('%j is refused', (choice, problem) => {
  expect(() => read(choice)).toThrow(problem);
});

test('a missing or damaged file is named', () => {
  expect(() => read({}, 'a: [')).toThrow('cannot be read');
  expect(() => readCluster('lab', { kubeconfig: '/no/such' }, {})).toThrow('/no/such cannot be read');
  expect(() => readCluster('lab', {}, { HOME: '/no/home' })).toThrow(
    'there is no kubeconfig at /no/home/.kube/config',
  );
});
