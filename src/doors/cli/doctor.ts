import type { MachineReport } from '../../contract/report.ts';
import type { Assembly } from '../door.ts';
import { toJson, toSentences, write } from '../say.ts';

/** Shows what nacre found on this machine; exits with 1 when commands cannot run. */
export async function open(assembly: Assembly): Promise<number> {
  const { io, flags } = assembly;
  const json = flags.json === true;
  try {
    const report = await (await assembly.engine()).report();
    await write(io.stdout, json ? toDocument(assembly, report) : toTable(assembly, report));
    return 0;
  } catch (error) {
    await (json ? write(io.stdout, toJson(error)) : write(io.stderr, toSentences(error)));
    return 1;
  } finally {
    await assembly.close();
  }
}

function toDocument({ version, warnings }: Assembly, report: MachineReport): string {
  const document = {
    version,
    node: process.version,
    bash: report.bash,
    path: report.path,
    login_environment: report.loginEnvironment,
    withheld_env: report.withheldEnv,
    state_folder: report.folder,
    process_table: report.processTable,
    supervision: report.supervision,
    sandbox: report.sandbox,
    network: report.network,
    exec: report.exec,
    landlock: report.landlock,
    gaps: report.gaps,
    warnings,
  };
  return `${JSON.stringify(document, null, 2)}\n`;
}

const networkWords = {
  on: 'on',
  off: 'off in the sandbox',
  filtered: 'only the hosts of network_allow',
};

function toTable({ version, warnings }: Assembly, report: MachineReport): string {
  const rows = [
    ['nacre', version],
    ['Node.js', process.version],
    ['bash', `${report.bash.version} at ${report.bash.path}`],
    ['PATH', report.path],
    ['login environment', report.loginEnvironment],
    ['withheld variables', report.withheldEnv.join(', ') || 'none'],
    ['state folder', report.folder],
    ['processes', `found with ${report.processTable}`],
    ['supervision', report.supervision],
    ['sandbox', report.sandbox],
    ['network', networkWords[report.network]],
    ['listed programs', report.exec === 'enforced' ? 'enforced by the kernel' : 'judged by policy only'],
    ['Landlock', report.landlock],
    ...report.gaps.map((gap) => ['gap', gap]),
    ...warnings.map((warning) => ['warning', warning]),
  ];
  return rows.map(([name = '', value]) => `${name.padEnd(20)}${value}\n`).join('');
}
