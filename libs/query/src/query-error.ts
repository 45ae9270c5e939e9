/**
 * An expression is refused: it does not parse, names something unknown, or compares kinds that do not fit. The API
 * answers 400 for a client's filter or sort and 422 for a rule (filters §1.3). No input causes any other error.
 */
export class QueryError extends Error {
  /** Position in the text, in UTF-16 code units from 0. */
  readonly position: number;

  constructor(message: string, position: number) {
    super(message);
    this.name = 'QueryError';
    this.position = position;
  }
}

/** The error for a name that a collection does not have. */
export class UnknownName extends QueryError {}

/** Creates an error that names the problem's character, counted from 1 (filters §8). */
export const errorAt = (problem: string, position: number): QueryError =>
  new QueryError(`${problem} (character ${position + 1})`, position);
