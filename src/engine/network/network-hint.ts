import type { Outcome } from '../../contract/outcome.ts';
import { noNetworkExitCodes, reportsNoNetwork, reportsNoSockets } from './network-use.ts';

/** The parts of an outcome that show whether a command failed because it had no network. */
export type NetworkEvidence = Pick<
  Outcome,
  'enforcement' | 'cause' | 'exitCode' | 'stdout' | 'stderr' | 'deniedHosts'
>;

/**
 * Says that the sandbox kept a command from the network, and which setting allows hosts; undefined if there is no sign
 * that it needed one. `programs` comes from `networkProgramsOf`. If it is empty, only a message on stderr of a failed
 * command counts, so that `grep 'Could not resolve host' log` gets no hint.
 */
export function networkHint(evidence: NetworkEvidence, programs: readonly string[]): string | undefined {
  const { enforcement, deniedHosts } = evidence;
  if (enforcement === null || enforcement.network === 'on') return undefined;
  if (deniedHosts.length > 0) return deniedHint(deniedHosts);
  if (!lackedNetwork(evidence, programs)) return undefined;
  if (enforcement.network === 'filtered') return filteredHint;
  if (enforcement.files === 'landlock') return noSocketsHint;
  return enforcement.sandbox === 'strict'
    ? `${offHint}. ${restart}`
    : `${offHint}, or all hosts with network: on. ${restart}`;
}

const networkAllow = 'the setting network_allow (NACRE_NETWORK_ALLOW=HOST,HOST)';
const restart = 'A restart of this server applies it.';
const offHint = `The network is off in this sandbox. The user can allow hosts with ${networkAllow}`;
// Landlock has no network namespace, which `network_allow` and a loopback of its own need.
const noSocketsHint = `The network is off in this sandbox, even for localhost. The user can turn it on with the setting network: on. ${restart}`;
const filteredHint = `This sandbox reaches other hosts only through the proxy in HTTPS_PROXY, and only those that the user allows with ${networkAllow}. ${restart}`;

function deniedHint(hosts: readonly string[]): string {
  return `This sandbox may not connect to ${hosts.join(', ')}. The user can allow hosts with ${networkAllow}. ${restart}`;
}

function lackedNetwork(evidence: NetworkEvidence, programs: readonly string[]): boolean {
  const { cause, exitCode, stdout, stderr, enforcement } = evidence;
  const reports = enforcement?.files === 'landlock' ? reportsNoSockets : reportsNoNetwork;
  const hasFailed = cause !== 'exit' || exitCode !== 0;
  if (programs.length === 0) return hasFailed && reports(endOf(stderr));
  if (cause === 'timeout' || reports(endOf(stderr)) || reports(endOf(stdout))) return true;
  // `curl -s URL | jq .` prints nothing and exits with 0 if the download failed.
  const isSilent = stdout === '' && stderr === '';
  return programs.some(
    (program) =>
      noNetworkExitCodes[program]?.includes(exitCode ?? 0) ||
      (isSilent && ['curl', 'wget'].includes(program)),
  );
}

// Errors come last, and a reply to an HTTP caller can have 10 MiB.
const endChars = 16_384;

function endOf(text: string): string {
  return text.slice(-endChars);
}
