/** The error with which a hook or a route refuses a request. */
export class Refusal extends Error {
  readonly status: number;
  readonly fields: Readonly<Record<string, string>> | undefined;

  constructor(status: number, message: string, fields?: Readonly<Record<string, string>>) {
    super(message);
    this.name = 'Refusal';
    this.status = status;
    this.fields = fields;
  }
}

/**
 * Creates a refusal to throw: a status from 400 to 599, a sentence for the client, and a message for each invalid
 * field. `throw refuse(422, 'validation failed', { total: 'is too large' })`.
 */
export const refuse = (status: number, message: string, fields?: Readonly<Record<string, string>>): Refusal =>
  new Refusal(status, message, fields);
