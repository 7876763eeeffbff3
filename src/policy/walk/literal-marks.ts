import type { TextSpan } from '../words/arg.ts';
import type { CommandProblem } from './survey.ts';

/**
 * Whether the literal texts of a command (quoted words, heredocs, text that `printf` prints) contain the characters of
 * `a[$(…)]`. Without them, arithmetic on a value that the walk has lost track of cannot run a command.
 */
export class LiteralMarks {
  private bracket = false;
  private dollar = false;
  private parenthesis = false;
  private backtick = false;
  private lostAt: TextSpan | undefined;
  private readonly noted: string[] = [];
  private readonly printed: string[] = [];

  /** Records a text that bash does not expand where it is written. */
  note(text: string): void {
    this.noted.push(text);
    this.bracket ||= text.includes('[');
    this.dollar ||= text.includes('$');
    this.parenthesis ||= text.includes('(');
    this.backtick ||= text.includes('`');
  }

  /** Records a text that a program such as `printf` prints. */
  print(text: string): void {
    this.note(text);
    this.printed.push(text);
  }

  /** All texts so far, and what several programs print to one file together. */
  texts(): readonly string[] {
    if (this.printed.length < 2) return this.noted;
    const whole = this.printed.join('');
    // `paste -d ''` joins the lines of its files.
    return [...this.noted, whole, whole.replaceAll('\n', '')];
  }

  /** Records arithmetic, a subscript or a name made from a value that may contain any of these texts. */
  lose(span: TextSpan): void {
    this.lostAt ??= { pos: span.pos, end: span.end };
  }

  /** The problems at the end of the walk; in a loop the text may be written after the arithmetic. */
  problems(): CommandProblem[] {
    const mayRunCode = this.bracket && (this.backtick || (this.dollar && this.parenthesis));
    if (this.lostAt === undefined || !mayRunCode) return [];
    const reason =
      'Bash would evaluate text of this command as arithmetic in a way that cannot be followed, which is not allowed under an allow list';
    const hint = 'Compare with [ "$x" -gt 1 ], which evaluates nothing.';
    return [{ scope: 'finite', rule: 'unknown_text', reason, hint, ...this.lostAt }];
  }
}
