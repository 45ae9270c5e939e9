/**
 * Why an expression is refused: it does not parse, names something that is not there, or compares what can't be
 * compared. The API makes it 400 in a client's filter or sort, 422 in a rule. Nothing else is thrown for any input.
 */
export class QueryError extends Error {
  /** Where in the text, in UTF-16 code units from 0. */
  readonly position: number;

  constructor(message: string, position: number) {
    super(message);
    this.name = 'QueryError';
    this.position = position;
  }
}

/** An error that names the character it stands at, counted from 1. */
export const errorAt = (problem: string, position: number): QueryError =>
  new QueryError(`${problem} (character ${position + 1})`, position);
