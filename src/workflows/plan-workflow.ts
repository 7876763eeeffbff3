import type { z } from 'zod';
import { type Problem, toProblems, zodMessages } from '../tools/common/define-tool.ts';
import { type PlannedStep, type stepSchema, type Workflow, workflowSchema } from './schema.ts';
import { stdinFieldOf } from './step-output.ts';

/** Result of `planWorkflow`: the valid workflow, or all its problems. */
export type Planned =
  | { readonly workflow: Workflow; readonly problems?: undefined }
  | { readonly problems: readonly Problem[] };

type ParsedStep = z.output<typeof stepSchema>;

/** Validates a workflow against `workflowSchema`, then checks the references between its steps. */
export function planWorkflow(raw: unknown): Planned {
  const parsed = workflowSchema.safeParse(raw, zodMessages);
  if (!parsed.success) return { problems: toProblems(parsed.error, workflowSchema) };
  const { steps: parsedSteps, ...rest } = parsed.data;
  const ids = parsedSteps.map(({ id }, index) => id ?? `step-${index + 1}`);
  const steps = parsedSteps.map((step, index) => toPlanned(step, index, ids));
  const problems = [
    ...parsedSteps.flatMap((step, index) => checkStep(step, index, ids)),
    ...(findCycle(steps) ?? []),
  ];
  return problems.length > 0 ? { problems } : { workflow: { ...rest, steps } };
}

// Without `needs` a step waits for the one before it; it always waits for steps in `input_from`, `env_from` and `when`.
function toPlanned(step: ParsedStep, index: number, ids: readonly string[]): PlannedStep {
  const previous = ids[index - 1];
  const order = step.needs ?? (previous === undefined ? [] : [previous]);
  const needs = [...new Set([...order, ...sourcesOf(step).map(({ step: id }) => id)])];
  return { ...step, id: ids[index] ?? '', needs };
}

function sourcesOf(step: ParsedStep): { readonly step: string; readonly path: readonly string[] }[] {
  const { input_from, env_from = {}, when } = step;
  return [
    ...(input_from ? [{ step: input_from.step, path: ['input_from'] }] : []),
    ...Object.entries(env_from).map(([name, from]) => ({ step: from.step, path: ['env_from', name] })),
    ...(typeof when === 'object' ? [{ step: when.step, path: ['when'] }] : []),
  ];
}

function checkStep(step: ParsedStep, index: number, ids: readonly string[]): Problem[] {
  const at = (path: readonly PropertyKey[], sentence: string) => ({
    path: ['steps', index, ...path],
    sentence,
  });
  const id = ids[index] ?? '';
  const references = [
    ...(step.needs ?? []).map((needed, position) => ({ step: needed, path: ['needs', position] })),
    ...sourcesOf(step),
  ];
  const otherStdin = step.input_from && otherStdinOf(step);
  return [
    ...(ids.indexOf(id) < index ? [at(['id'], `two steps have the id ${id}`)] : []),
    ...((step.command === undefined) === (step.tool === undefined)
      ? [at([], `step ${id} needs either command or tool`)]
      : []),
    ...(step.with && step.tool === undefined ? [at(['with'], 'with is only for steps with a tool')] : []),
    ...(step.tool === undefined ? [] : commandFieldsOf(step).map((key) => at([key], toMisplaced(key)))),
    ...(otherStdin ? [at(['input_from'], `${otherStdin} and input_from cannot be combined`)] : []),
    ...references.flatMap(({ step: other, path }) => {
      if (!ids.includes(other)) return [at(path, `there is no step ${other}`)];
      return other === id ? [at(path, `step ${id} cannot need itself`)] : [];
    }),
  ];
}

function commandFieldsOf(step: ParsedStep): readonly (keyof ParsedStep)[] {
  const keys = ['cwd', 'env', 'env_from', 'input', 'input_from', 'timeout'] as const;
  const mayReadOutput = step.tool !== undefined && stdinFieldOf(step.tool) !== undefined;
  return keys.filter((key) => step[key] !== undefined && !(mayReadOutput && key === 'input_from'));
}

function toMisplaced(key: keyof ParsedStep): string {
  return key === 'input_from'
    ? 'input_from is only for commands, and for tools that pass stdin to a command'
    : `${key} is only for commands: use with for a tool`;
}

/** The field that contains the stdin of a step, if `input_from` is not the only one. */
function otherStdinOf({ input, tool = '', with: fields = {} }: ParsedStep): string | undefined {
  if (input !== undefined) return 'input';
  const field = stdinFieldOf(tool);
  return field !== undefined && Object.hasOwn(fields, field) ? `with.${field}` : undefined;
}

function findCycle(steps: readonly PlannedStep[]): Problem[] | undefined {
  const settled = new Set<string>();
  for (let before = -1; before < settled.size; ) {
    before = settled.size;
    for (const { id, needs } of steps) if (needs.every((one) => settled.has(one))) settled.add(id);
  }
  const index = steps.findIndex(
    ({ id, needs }) => !settled.has(id) && needs.every((one) => steps.some((step) => step.id === one)),
  );
  if (index < 0) return undefined;
  return [
    {
      path: ['steps', index],
      sentence: `step ${steps[index]?.id} needs itself through other steps`,
    },
  ];
}
