import { limits } from './limits.ts';
import { crossForms, type Forms, formsOf, joinOutput, type Output, skippable } from './walk.ts';

/** Puts together what the commands of `a && b || c` print, of which some may be left out. */
export class AndOrOutput {
  private whole: Output;
  /** What may be printed so far when the last command that ran went well, and when it did not. */
  private well: Forms;
  private badly: Forms;

  constructor(first: Output) {
    this.whole = first;
    this.well = formsOf(first);
    this.badly = this.well;
  }

  /** Takes in the next command. */
  add(operator: string, printed: Output): void {
    this.whole = joinOutput(this.whole, skippable(printed));
    const forms = formsOf(printed);
    if (operator === '&&') {
      this.well = crossForms(this.well, forms);
      this.badly = unite(this.badly, this.well);
      this.well = this.badly && this.well;
    } else {
      this.badly = crossForms(this.badly, forms);
      this.well = unite(this.well, this.badly);
      this.badly = this.well && this.badly;
    }
  }

  get output(): Output {
    return this.whole.more ? { ...this.whole, forms: unite(this.well, this.badly) } : this.whole;
  }
}

function unite(one: Forms, other: Forms): Forms {
  if (one === undefined || other === undefined) return undefined;
  const all = new Set([...one, ...other]);
  return all.size > limits.values ? undefined : [...all];
}
