import { type Document, isMap, isNode, isScalar, LineCounter, parseDocument, type YAMLError } from 'yaml';
import { NacreError } from '../contract/failure.ts';
import { planWorkflow } from './plan-workflow.ts';
import type { Workflow } from './schema.ts';

/** Parses a workflow in YAML; throws one error that lists every problem with its line and column. */
export function readWorkflow(text: string, path: string): Workflow {
  const lineCounter = new LineCounter();
  const document = parseDocument(text, { lineCounter, prettyErrors: false });
  const at = (offset: number) => {
    const { line, col } = lineCounter.linePos(offset);
    return `${path}:${line}:${col}`;
  };
  // `document.warnings` count as errors: an unknown tag such as `!js` would silently change its value.
  const faults = [...document.errors, ...document.warnings].map(
    (fault) => `${at(fault.pos[0])}: ${describeFault(fault)}`,
  );
  if (faults.length > 0) throw invalid(faults);
  const planned = planWorkflow(toValue(document, at));
  if (!planned.problems) return planned.workflow;
  throw invalid(
    planned.problems.map(({ path: keys, sentence }) => `${at(offsetOf(document, keys))}: ${sentence}`),
  );
}

// Replaces messages of the `yaml` package that only make sense to its callers.
function describeFault({ code, message }: YAMLError): string {
  if (code === 'MULTIPLE_DOCS') return 'the file has more than one document';
  return message.includes('call stack') ? 'it is nested too deeply' : message;
}

/** Validates a workflow that a program passes in; throws one error that lists every problem with its path. */
export function parseWorkflow(raw: unknown): Workflow {
  const planned = planWorkflow(raw);
  if (!planned.problems) return planned.workflow;
  throw invalid(planned.problems.map(({ path, sentence }) => `${path.map(String).join('.')}: ${sentence}`));
}

function toValue(document: Document, at: (offset: number) => string): unknown {
  try {
    return document.toJS() ?? {};
  } catch (error) {
    throw invalid([`${at(0)}: ${(error as Error).message}`]);
  }
}

// Offset of the key at `path`, else of its value, else of the closest parent.
function offsetOf(document: Document, path: readonly PropertyKey[]): number {
  for (let length = path.length; length >= 0; length -= 1) {
    const keys = path.slice(0, length);
    const parent = document.getIn(keys.slice(0, -1), true);
    const pair = isMap(parent)
      ? parent.items.find(({ key }) => isScalar(key) && key.value === keys.at(-1))
      : undefined;
    const found = pair?.key ?? document.getIn(keys, true);
    if (isNode(found) && found.range) return found.range[0];
  }
  return 0;
}

function invalid(problems: readonly string[]): NacreError {
  const amount = problems.length === 1 ? 'a problem' : `${problems.length} problems`;
  return new NacreError('invalid_request', `The workflow has ${amount}:\n${problems.join('\n')}`, {
    hint: 'Correct these lines; nothing was run.',
    details: { problems },
  });
}
