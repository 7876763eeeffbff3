// `nacre doctor`: 1. the engine reports what it detected on the machine, 2. everything else that commands and clients
// need is checked, including a call over MCP, 3. each finding is printed with its fix; problems set the exit code.
import { toNacreError } from '../../contract/failure.ts';
import type { MachineReport } from '../../contract/report.ts';
import type {
  DiagnosisAccess,
  DisplayAccess,
  EngineAccess,
  FlagAccess,
  IoAccess,
  PlaceAccess,
  ProcessAccess,
  SettingsAccess,
  UserRules,
  VersionAccess,
} from '../door.ts';
import { problemExit } from '../exit-codes.ts';
import { print, toErrorText } from '../print.ts';
import { examineClients } from './doctor/examine-clients.ts';
import { examineChanges } from './doctor/examine-isolation.ts';
import { examineMachine, examineReport } from './doctor/examine-machine.ts';
import { examinePolicy, examineServer } from './doctor/examine-policy.ts';
import type { Finding } from './doctor/finding.ts';
import { type Reported, toDiagnosisText } from './doctor/to-diagnosis-text.ts';

type DoctorDeps = FlagAccess<{ readonly json: boolean }> &
  IoAccess &
  DisplayAccess &
  VersionAccess &
  EngineAccess &
  SettingsAccess &
  PlaceAccess &
  ProcessAccess &
  UserRules &
  DiagnosisAccess;

/** Prints the machine report and the findings; returns `problemExit` if commands cannot run. */
export async function doctorDoor(deps: DoctorDeps): Promise<number> {
  const { io, flags } = deps;
  try {
    const report = await reportOf(deps);
    const findings = await examine(deps, report);
    const text = flags.json ? toDocument(deps, report, findings) : toDiagnosisText(deps, report, findings);
    await print(io.stdout, text, io.interrupted);
    if ('failure' in report && !flags.json) await print(io.stderr, toErrorText(report.failure));
    return findings.some(({ status }) => status === 'problem') ? problemExit : 0;
  } finally {
    await deps.close();
  }
}

async function reportOf(deps: DoctorDeps): Promise<Reported> {
  try {
    return await (await deps.engine()).report();
  } catch (failure) {
    return { failure };
  }
}

async function examine(deps: DoctorDeps, report: Reported): Promise<readonly Finding[]> {
  const clients = examineClients(deps);
  return [
    ...examineMachine(deps),
    ...deps.newerCopy().map(
      (found) =>
        ({
          check: 'version',
          status: 'warning',
          found,
          fix: 'nacre init CLIENT, with the newer one',
        }) as const,
    ),
    ...('failure' in report
      ? [toProblem(report.failure)]
      : [...examineReport(report, deps), examineChanges(await (await deps.engine()).changes.fault(), deps)]),
    examinePolicy(deps, clients.isListed),
    await examineServer(deps),
    ...clients.findings,
  ];
}

function toProblem(failure: unknown): Finding {
  const { message, hint } = toNacreError(failure);
  return { check: 'engine', status: 'problem', found: message, fix: hint };
}

function toDocument(
  { version, warnings }: DoctorDeps,
  report: Reported,
  findings: readonly Finding[],
): string {
  const document = {
    version,
    node: process.version,
    ...('failure' in report ? { error: toError(report.failure) } : toFields(report)),
    warnings,
    findings,
  };
  return `${JSON.stringify(document, null, 2)}\n`;
}

function toError(failure: unknown): Record<string, unknown> {
  const { code, message, hint } = toNacreError(failure);
  return { code, message, hint };
}

function toFields(report: MachineReport): Record<string, unknown> {
  return {
    bash: report.bash,
    path: report.path,
    login_environment: report.loginEnvironment,
    withheld_env: report.withheldEnv,
    state_folder: report.folder,
    process_table: report.processTable,
    supervision: report.supervision,
    sandbox: report.sandbox,
    files: report.files,
    workspace_by: report.workspaceBy,
    network: report.network,
    exec: report.exec,
    exec_note: report.execNote,
    landlock: report.landlock,
    gaps: report.gaps,
  };
}
