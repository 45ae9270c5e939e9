/** What is wrong with one member of a body. */
export interface MemberRefusal {
  readonly code: string;
  readonly message: string;
  readonly params?: Readonly<Record<string, unknown>>;
}

export type MemberRefusals = Readonly<Record<string, unknown>>;

/** A refusal as PocketBase answers it. */
export class Refusal extends Error {
  readonly status: number;
  /** By member. */
  readonly data: MemberRefusals;

  constructor(status: number, message: string, data: MemberRefusals = {}) {
    super(message);
    this.status = status;
    this.data = data;
  }

  get body(): object {
    return { data: this.data, message: this.message, status: this.status };
  }
}

export const failed = 'Something went wrong while processing your request.';

export const notFound = () => new Refusal(404, "The requested resource wasn't found.");

export const superusersOnly = () => new Refusal(403, 'Only superusers can perform this action.');

export const needsToken = () => new Refusal(401, 'The request requires valid record authorization token.');

export const badRequest = () => new Refusal(400, failed);

export const invalid = (data: MemberRefusals) =>
  new Refusal(400, 'An error occurred while validating the submitted data.', data);

export const blank: MemberRefusal = { code: 'validation_required', message: 'Cannot be blank.' };

export const mismatch: MemberRefusal = { code: 'validation_values_mismatch', message: "Values don't match." };
